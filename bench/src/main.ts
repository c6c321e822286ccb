import 'reflect-metadata';
import { loadavg } from 'node:os';
import { benchAccept } from './accept/accept.js';
import { benchDoors } from './accept/doors.js';
import { benchGrowth } from './accept/growth.js';
import { benchKannel } from './accept/kannel.js';
import { benchLarge } from './accept/large.js';
import { benchPersonal } from './accept/personal.js';
import { benchStored } from './accept/stored.js';
import { benchLedger } from './accounts/ledger.js';
import { benchManagement, printManagement } from './accounts/management.js';
import { benchGauges, benchMeasuredAccept, benchScrape } from './accounts/telemetry.js';
import { benchCampaignFeed, benchCampaignImport } from './campaigns/campaign.js';
import { benchBaileys } from './channels/baileys.js';
import { benchMsgapp } from './channels/msgapp.js';
import { benchOtp } from './channels/otp.js';
import { benchSegmentation } from './channels/segmentation.js';
import { benchEndpoints } from './events/event-endpoints.js';
import { benchEvents, benchFeed } from './events/events.js';
import { benchReplay } from './events/replay.js';
import { benchWebhooks } from './events/webhooks.js';
import { benchImport } from './import.js';
import { benchClaimUnderSnapshot } from './queue/claim-snapshot.js';
import { benchDrain } from './queue/drain.js';
import { benchHooks } from './queue/hooks.js';
import { benchNotify } from './queue/notify.js';
import { benchPurge } from './queue/purge.js';
import { benchBehindCampaign, benchTwoAccounts } from './queue/queue.js';
import { benchSchedule } from './queue/schedule.js';
import { benchWorkers, shownDrain } from './queue/workers.js';
import { benchSmpp } from './smpp/smpp.js';
import { benchSmppFaults } from './smpp/smpp-faults.js';
import { countDriverCalls } from './storage/driver-calls.js';
import { benchLimit } from './storage/limit.js';
import { countLife, type LifeStep } from './storage/statements.js';
import { DATABASES, databaseOf } from './target.js';
import { median } from './versus.js';

const wanted = process.argv.slice(2);
const runs = (name: string) => wanted.length === 0 || wanted.includes(name);

if (runs('import')) {
  const { ours, nest, ratio } = benchImport(11);
  console.log(
    `CPU time of importing nestjs-messaging against @nestjs/core: ${ratio.toFixed(2)} x (wanted: at most 1.6; ${Math.round(ours)} and ${Math.round(nest)} ms)`,
  );
}
if (runs('segmentation')) {
  console.log('Segmentation, texts a second against split-sms (wanted: 10 x):');
  for (const { name, ours, theirs, ratio } of benchSegmentation()) {
    console.log(`  ${name.padEnd(44)} ${ratio.toFixed(1)} x   (${Math.round(ours)} against ${Math.round(theirs)})`);
  }
}
if (runs('accept')) {
  console.log(
    'POST /send/sms, one recipient, 32 connections, answered after the commit, against a bare validated route',
  );
  console.log('(wanted: dispatch elsewhere 0.90 on Express and 0.60 on Fastify, in process 0.75 and 0.45):');
  // The whole benchmark takes 20 minutes. BENCH_VARIANT=express,elsewhere runs only the lines with these words.
  await benchAccept(Number(process.env.BENCH_TURNS ?? 11), process.env.BENCH_VARIANT?.split(','));
}
if (runs('kannel')) {
  console.log('SMS a second by 32 callers, one process (Fastify, SQLite, delivery in it) against Kannel with a spool;');
  console.log(`the load of the machine before it is ${loadavg()[0]?.toFixed(1)}:`);
  for (const [recipients, wanted] of [
    [1, '1.0'],
    [100, '5'],
  ] as const) {
    const figures = await benchKannel(Number(process.env.BENCH_TURNS ?? 11), recipients);
    if (!figures) {
      console.log('  SKIPPED, Kannel is not installed: apt-get install kannel');
      break;
    }
    const { accepted, delivered, spooled } = figures;
    console.log(
      `  ${recipients} recipient${recipients > 1 ? 's' : ''} a request: ours ${Math.round(accepted.perSecond)}/s, Kannel ${Math.round(accepted.othersPerSecond)}/s, ${accepted.ratio.toFixed(2)} x (wanted: ${wanted}); processor ${Math.round(accepted.cpu)} µs a message, ${accepted.cpuRatio.toFixed(2)} x`,
    );
    console.log(
      `    until all are delivered too: ours ${Math.round(delivered.ours)}/s, Kannel ${Math.round(delivered.kannel)}/s; Kannel's spool has ${spooled} of ${recipients} messages of a request`,
    );
  }
}
if (runs('doors')) {
  console.log(
    'POST /send/sms with log-in hooks, the doors of Twilio and Kannel and the one for agents, against without,',
  );
  console.log(`32 connections, SQLite; the load of the machine before it is ${loadavg()[0]?.toFixed(1)}:`);
  for (const adapter of ['express', 'fastify'] as const) {
    const { ratio, cpuRatio, refused } = await benchDoors(adapter, Number(process.env.BENCH_TURNS ?? 11));
    console.log(
      `  ${adapter.padEnd(8)} ${ratio.toFixed(2)} x, processor time ${cpuRatio.toFixed(2)} x (wanted: 1.00), refused ${refused}`,
    );
  }
}
if (runs('personal')) {
  console.log('One send of 100 000 personal texts against one of a plain text to as many, Express:');
  for (const database of DATABASES) {
    const figures = await benchPersonal(database, Number(process.env.BENCH_TURNS ?? 7));
    if (!figures) {
      console.log(`  ${database}: SKIPPED, no server on its standard local port`);
      continue;
    }
    const { ratio, personal, plain } = figures;
    console.log(
      `  ${database.padEnd(10)} ${ratio.toFixed(2)} x   (wanted: at most 1.5; ${Math.round(personal)} and ${Math.round(plain)} ms)`,
    );
  }
}
if (runs('campaign')) {
  const recipients = Number(process.env.BENCH_MESSAGES ?? 1_000_000);
  for (const database of DATABASES) {
    const few = await benchCampaignImport(database, 10_000);
    const many = await benchCampaignImport(database, recipients);
    const fed = await benchCampaignFeed(database, 50_000, Number(process.env.BENCH_TURNS ?? 5));
    if (!few || !many || fed === undefined) {
      console.log(`  ${database}: SKIPPED, no server on its standard local port`);
      continue;
    }
    const inMiB = (bytes: number) => Math.round(bytes / 2 ** 20);
    const heaps = many.heap.map(inMiB).join(', ');
    console.log(`Campaign on ${database}, the load of the machine is ${loadavg()[0]?.toFixed(1)}:`);
    console.log(
      `  import of ${recipients} at ${Math.round(many.perSecond)} rows/s; heap in use after each fifth ${heaps} MiB, ${(Math.max(...many.heap) / Math.max(...few.heap)).toFixed(2)} x that of 10 000 (wanted: flat); resident at most ${inMiB(many.memory)} and ${inMiB(few.memory)} MiB`,
    );
    console.log(`  accepted and delivered at ${fed.toFixed(2)} x the rate of a drain (wanted: 0.90)`);
  }
}
if (runs('large')) {
  const { per1000At10k, per1000At100k, memory, othersP99 } = await benchLarge(5);
  console.log('One send to many recipients, SQLite, Express:');
  console.log(
    `  time per recipient, 100 000 against 10 000: ${(per1000At100k / per1000At10k).toFixed(2)} x (wanted: at most 1.25)`,
  );
  console.log(`  ${per1000At10k.toFixed(2)} and ${per1000At100k.toFixed(2)} ms per 1000 recipients`);
  console.log(
    `  peak memory ${Math.round(memory / 2 ** 20)} MiB (wanted: under 512), others' p99 ${othersP99.toFixed(0)} ms`,
  );
}
if (runs('stored')) {
  const ratio = await benchStored(1_000_000, 11);
  console.log(`Accept rate with 1 000 000 stored messages against none: ${ratio.toFixed(2)} x (wanted: 0.85)`);
}
if (runs('growth')) {
  const stored = Number(process.env.BENCH_MESSAGES ?? 5_000_000);
  const growth = await benchGrowth(stored, 11);
  if (growth) {
    const { accept, bytes, listing } = growth;
    console.log(`PostgreSQL with ${stored} stored messages, half of them of the account that sends:`);
    console.log(`  accept rate against an empty database: ${accept.toFixed(2)} x (wanted: 0.90)`);
    console.log(`  GET /sms?limit=50, p99: ${listing[0]} ms with few, ${listing[1]} ms with all`);
    for (const [table, size] of bytes) console.log(`  ${table.padEnd(24)} ${size.toFixed(0)} bytes a message`);
  }
}
if (runs('ledger')) {
  const messages = Number(process.env.BENCH_MESSAGES ?? 10_000_000);
  const { minutes, held, reports, findings, again } = await benchLedger(messages);
  console.log(
    `Ledger check of ${messages} messages on SQLite: ${minutes.toFixed(1)} min, loop held ${held.toFixed(0)} ms at most (wanted: 50), progress reported ${reports} times, ${findings + again} findings (wanted: 0)`,
  );
}
if (runs('purge')) {
  const messages = Number(process.env.BENCH_MESSAGES ?? 1_000_000);
  for (const database of ['sqlite', 'postgres'] as const) {
    const run = await benchPurge(database, messages, 11);
    if (!run) continue;
    const { without, beside, ended } = run;
    console.log(
      `POST /send/sms beside a purge of ${messages} messages on ${database}, p99.9: ${beside} against ${without} ms, ${(beside / without).toFixed(2)} x (wanted: at most 2)${ended ? '; the purge had ended' : ''}`,
    );
  }
}
if (runs('drain')) {
  for (const database of DATABASES) {
    const place = await databaseOf(database);
    if (!place) continue;
    console.log(
      `Dispatch to the sandbox on ${database}: ${Math.round(await benchDrain(place, 50_000))} messages/s (wanted: 5000)`,
    );
  }
}
if (runs('limit')) {
  console.log('SMS by 32 callers without HTTP, against the same rows by hand-made statements on the raw driver:');
  for (const database of DATABASES) {
    for (const delivers of [false, true]) {
      const figures = await benchLimit(database, delivers, Number(process.env.BENCH_TURNS ?? 11));
      if (!figures) continue;
      const { product, byHand, quotient } = figures;
      console.log(
        `  ${database.padEnd(9)} ${(delivers ? 'accepted and delivered' : 'accepted').padEnd(23)} product ${Math.round(product)}/s, by hand ${Math.round(byHand)}/s: ${quotient.toFixed(2)} x`,
      );
    }
  }
}
if (runs('statements')) {
  console.log('One SMS of an account without events; what is sent to the database, and the b-trees that are written:');
  countDriverCalls();
  for (const database of DATABASES) {
    for (const isDirect of [false, true]) {
      const place = await databaseOf(database);
      if (!place) continue;
      const steps = await countLife(place, isDirect);
      const sum = (of: (step: LifeStep) => number) => steps.reduce((total, step) => total + of(step), 0);
      console.log(
        `  ${database}${isDirect ? ', accepted and delivered by one process' : ''}: ${sum(({ statements }) => statements)} statements, ${sum(({ roundTrips }) => roundTrips)} round trips, ${sum(({ trees }) => trees.length)} b-trees`,
      );
      for (const { name, statements, roundTrips, trees } of steps) {
        console.log(
          `    ${name}: ${statements} statements, ${roundTrips} round trips, ${trees.length} b-trees (${trees.join(', ')})`,
        );
      }
    }
  }
}
if (runs('queue')) {
  console.log('Codes behind a campaign of 100 000 at 50 parts a second, from the answer to the stored hand-over:');
  for (const limit of ['smpp', 'http', 'routed'] as const) {
    const { waits, claimsPerMessage, perSecond } = await benchBehindCampaign(limit, 100_000);
    const [median, worst] = [waits.at(waits.length / 2), waits.at(-1)].map((ms = Number.NaN) => Math.round(ms));
    console.log(
      `  ${limit.padEnd(6)} p50 ${median} ms, worst ${worst} ms (wanted: 1000); ${claimsPerMessage.toFixed(2)} claims a message (wanted: at most 1.05); ${perSecond.toFixed(1)}/s`,
    );
  }
  const ratio = await benchTwoAccounts(50_000);
  console.log(
    `Two accounts of 50 000 each: the first ends after ${ratio.toFixed(2)} x the second (wanted: 0.90 to 1.10)`,
  );
}
if (runs('hooks')) {
  console.log('Calls of a log-in hook by HTTP beside 100 000 queued SMS at 50 parts a second, from the request to the');
  console.log(
    `hand-over to the carrier (wanted: p50 at most 100 ms); the load of the machine before it is ${loadavg()[0]?.toFixed(1)}:`,
  );
  for (const kind of DATABASES) {
    for (const pacing of ['carrier', 'route'] as const) {
      const place = await databaseOf(kind);
      if (!place) {
        console.log(`  SKIPPED, there is no server: ${kind}`);
        continue;
      }
      const { idle, busy, perSecond } = await benchHooks(place, 100_000, pacing);
      const at = (waits: readonly number[], part: number) => waits[Math.floor(waits.length * part)] ?? Number.NaN;
      const shown = (waits: readonly number[]) =>
        `p50 ${at(waits, 0.5).toFixed(1)} ms, p95 ${at(waits, 0.95).toFixed(1)} ms`;
      console.log(
        `  ${kind.padEnd(8)} paced by the ${pacing.padEnd(7)} ${shown(busy)} at ${perSecond.toFixed(1)}/s; idle ${shown(idle)}`,
      );
    }
  }
}
if (runs('claim')) {
  const messages = Number(process.env.BENCH_MESSAGES ?? 2_000_000);
  const claims = await benchClaimUnderSnapshot(messages);
  if (claims) {
    const shown = ({ p50, p99 }: { p50: number; p99: number }) => `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`;
    console.log(`A claim of 500 on PostgreSQL while another session holds a snapshot and ${messages} messages pass:`);
    console.log(`  the first tenth ${shown(claims.atFirst)}; the last ${shown(claims.atLast)} (wanted: p99 under 20)`);
    console.log(`  the worst, of those that look without floors each 30 s: ${claims.worst.toFixed(0)} ms`);
  }
}
if (runs('schedule')) {
  // A quick run: BENCH_MESSAGES=100000.
  const scheduled = Number(process.env.BENCH_MESSAGES ?? 2_000_000);
  console.log(
    `Claims beside ${scheduled} rows that are due tomorrow, against claims without them; the load before it is ${loadavg()[0]?.toFixed(1)}:`,
  );
  for (const database of DATABASES) {
    for (const accounts of [1, 100]) {
      const figures = await benchSchedule(database, scheduled, accounts, Number(process.env.BENCH_TURNS ?? 11));
      if (!figures) continue;
      const shown = ({ ratio, beside, alone }: { ratio: number; beside: number; alone: number }) =>
        `${ratio.toFixed(2)} x (${beside.toFixed(2)} and ${alone.toFixed(2)} ms)`;
      console.log(
        `  ${database.padEnd(8)} of ${String(accounts).padStart(3)} account${accounts > 1 ? 's' : ' '}: a claim of 500 ${shown(figures.full)} (wanted: at most 1.10); one that finds nothing ${shown(figures.empty)}`,
      );
    }
  }
}
if (runs('workers')) {
  for (const answersAfter of [0, 500]) {
    const run = await benchWorkers(answersAfter, Number(process.env.BENCH_TURNS ?? 5));
    if (!run) continue;
    console.log(
      `Worker processes on PostgreSQL; a carrier that costs no CPU answers each batch after ${answersAfter} ms:`,
    );
    for (const line of [...run.one, ...run.two].map(shownDrain)) console.log(`  ${line}`);
    console.log(`  two against one: ${run.ratio.toFixed(2)} x (wanted: 1.70), ${run.limit}`);
  }
}
if (runs('notify')) {
  console.log(
    'From the accept in one process to the hand-over in another, PostgreSQL (wanted: p50 under 80 ms, p99 under 250 ms):',
  );
  for (const by of ['polls', 'postgres', 'redis'] as const) {
    const took = await benchNotify(by, by === 'polls' ? 50 : 500);
    if (took) console.log(`  ${by.padEnd(9)} p50 ${took.p50.toFixed(0)} ms, p99 ${took.p99.toFixed(0)} ms`);
  }
}
if (runs('otp')) {
  const { send, sendInProcess, sendAgainstBetterAuth, fastifyAgainstBetterAuth, ...rest } = await benchOtp(11);
  const { verify, verifyAgainstBetterAuth, verifyAtMillion } = rest;
  const all = [send, sendInProcess, sendAgainstBetterAuth, fastifyAgainstBetterAuth, ...Object.values(rest)];
  const refused = all.reduce((sum, each) => sum + each.refused, 0);
  const shown = ({ ratio }: { ratio: number }, digits = 2) => ratio.toFixed(digits);
  console.log('One-time passcodes, 32 connections, Express, SQLite:');
  console.log(
    `  send/otp   ${shown(send)} x bare (wanted: 0.75; ${shown(sendInProcess)} with delivery in the same process), ${shown(sendAgainstBetterAuth, 1)} x better-auth (wanted: 5; ${shown(fastifyAgainstBetterAuth, 1)} on Fastify)`,
  );
  console.log(
    `  verify/otp ${shown(verify)} x bare (wanted: 0.85), ${shown(verifyAgainstBetterAuth, 1)} x better-auth (wanted: 5)`,
  );
  console.log(`  verify/otp with 1 000 000 stored codes against few: ${shown(verifyAtMillion)} x`);
  console.log(`  p99 ${send.p99} ms and ${verify.p99} ms, refused ${refused}`);
}
if (runs('smpp')) {
  const { bind, bareLoop, ratio } = await benchSmpp(3, 50, 200_000);
  console.log('SMPP, one bind, window 50, against a sink in another process:');
  console.log(
    `  ${Math.round(bind)} submits/s (wanted: 50 000), ${ratio.toFixed(2)} x a bare socket loop (${Math.round(bareLoop)})`,
  );
}
if (runs('smpp-faults')) {
  const { perSecond, taken, throttled, drops, unknown } = await benchSmppFaults(10_000);
  console.log('10 000 SMS through a carrier that throttles a third, drops every 500 and answers one in twenty twice:');
  console.log(
    `  ${Math.round(perSecond)} messages/s; ${taken} taken, ${throttled} throttled, ${drops} drops, ${unknown} unknown`,
  );
}
if (runs('msgapp')) {
  const { accepting, inProcess } = await benchMsgapp(11);
  console.log('POST /msgapp/send/text from one linked number, 32 connections, Express, SQLite, against a bare route:');
  console.log(
    `  ${accepting.ratio.toFixed(2)} x bare (wanted: 0.85; ${inProcess.ratio.toFixed(2)} when the number writes as fast as it can), ${Math.round(accepting.perSecond)}/s, p99 ${accepting.p99} ms, refused ${accepting.refused + inProcess.refused}`,
  );
}
if (runs('baileys')) {
  const { linked, resumed, growth } = await benchBaileys(40, 3);
  const inMiB = (bytes: number) => (bytes / 2 ** 20).toFixed(2);
  console.log('Memory per idle connected Baileys session, 40 on SQLite, peer in another process:');
  console.log(`  resumed      ${inMiB(resumed.rss)} MiB resident, ${inMiB(resumed.heap)} MiB in use`);
  console.log(`  just linked  ${inMiB(linked.rss)} MiB resident, ${inMiB(linked.heap)} MiB in use`);
  console.log(
    `  all closed and resumed in the same process: ${inMiB(growth)} MiB more in use each time (wanted: about 0)`,
  );
}
if (runs('webhooks')) {
  const { bare, single, batched, ratios, waits, besideDead } = await benchWebhooks(40_000, 5);
  const part = (share: number) => waits[Math.floor(share * waits.length)];
  console.log('Calls of endpoints, SQLite, receiver in another process:');
  console.log(
    `  posts of one event: ${Math.round(single)}/s, ${median(ratios.map(([one]) => one)).toFixed(2)} x a bare undici loop (wanted: 0.7; ${Math.round(bare)}/s)`,
  );
  console.log(
    `  posts of 100 events: ${Math.round(batched)} events/s, ${median(ratios.map(([, many]) => many)).toFixed(1)} x posts of one (wanted: 8)`,
  );
  console.log(`  commit to post at 500/s: p50 ${part(0.5)} ms, p99 ${part(0.99)} ms (wanted: under 60 and 250)`);
  console.log(`  99 endpoints beside a dead one: ${besideDead.toFixed(2)} x (wanted: 0.95)`);
}
if (runs('events')) {
  const { settling, sending } = await benchEvents(11);
  console.log('The log of events:');
  for (const [storage, ratio, perSecond] of settling) {
    console.log(
      `  settling with events, ${storage}: ${ratio.toFixed(2)} x without (wanted: 0.85; ${Math.round(perSecond)} deliveries/s)`,
    );
  }
  console.log(`  POST /send/sms with webhooks mounted: ${sending.ratio.toFixed(2)} x without (wanted: 0.97)`);
}
if (runs('endpoints')) {
  const { settling, sending } = await benchEndpoints(Number(process.env.BENCH_TURNS ?? 11));
  console.log('Writes of an account with ten endpoints against one with one:');
  for (const [storage, ratio, perSecond] of settling) {
    console.log(`  settling, ${storage}: ${ratio.toFixed(2)} x (wanted: 0.95; ${Math.round(perSecond)} deliveries/s)`);
  }
  console.log(`  POST /send/sms: ${sending.ratio.toFixed(2)} x (wanted: 0.95), refused ${sending.refused}`);
}
if (runs('replay')) {
  const events = Number(process.env.BENCH_MESSAGES ?? 1_000_000);
  const { perSecond, heap, rss } = await benchReplay(events);
  const inMiB = (bytes: readonly number[]) => bytes.map((each) => Math.round(each / 2 ** 20)).join(', ');
  console.log(
    `Replay of ${events} events in posts of 100, SQLite: ${Math.round(perSecond)} events/s (wanted: flat memory)`,
  );
  console.log(`  heap in use before it and at each tenth: ${inMiB(heap)} MiB`);
  console.log(`  resident: ${inMiB(rss)} MiB`);
}
if (runs('feed')) {
  const stored = Number(process.env.BENCH_MESSAGES ?? 5_000_000);
  const feed = await benchFeed(stored);
  if (feed !== undefined) console.log(`  GET /events over ${stored} events: p99 ${feed} ms (wanted: under 20)`);
}
if (runs('management')) {
  const stored = Number(process.env.BENCH_MESSAGES ?? 5_000_000);
  const run = await benchManagement(stored);
  if (run) {
    console.log(`The dashboard’s requests to a service with ${stored} stored messages, PostgreSQL, Express:`);
    printManagement(run);
  }
}
if (runs('telemetry')) {
  const turns = Number(process.env.BENCH_TURNS ?? 11);
  const prometheus = await benchMeasuredAccept('prometheus', turns);
  const openTelemetry = await benchMeasuredAccept('opentelemetry', turns);
  const scrape = await benchScrape(50);
  console.log('POST /send/sms with telemetry against without, 32 connections, Express, SQLite:');
  console.log(
    `  Prometheus                                    ${prometheus.ratio.toFixed(3)} x (wanted: 0.98), refused ${prometheus.refused}`,
  );
  console.log(
    `  OpenTelemetry, metrics and a tenth of traces  ${openTelemetry.ratio.toFixed(3)} x (wanted: 0.93), refused ${openTelemetry.refused}`,
  );
  console.log(
    `  a scrape: ${scrape.p50.toFixed(1)} ms, worst ${scrape.worst.toFixed(1)} ms (wanted: under 50 from memory)`,
  );
  const stored = Number(process.env.BENCH_MESSAGES ?? 5_000_000);
  const gauges = await benchGauges(stored, 30);
  if (gauges) {
    console.log(
      `  a background round beside ${stored} messages and 100 000 that wait, PostgreSQL: ${gauges.p50.toFixed(1)} ms, worst ${gauges.worst.toFixed(1)} ms (wanted: under 50)`,
    );
  }
}
