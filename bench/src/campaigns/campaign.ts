import { AccountService, CampaignService, LedgerService, SmsService } from 'nestjs-messaging';
import { Arrivals, withHost } from '../queue/drain.js';
import { type DATABASES, databaseOf, startTarget, type Target, type TargetDatabase } from '../target.js';
import { median } from '../versus.js';

const CONTENT = 'Bonjour {name}, nos soldes commencent demain.';
const SLICE = 1000;

/** An import by HTTP into a server of its own. */
export interface CampaignImport {
  readonly perSecond: number;
  /** The server's heap after a garbage collection, in bytes: after each fifth of the file. */
  readonly heap: readonly number[];
  /** Peak resident memory of the server, in bytes. It includes garbage that was not collected yet. */
  readonly memory: number;
}

/** How often the heap is measured while a file is read. */
const LOOKS = 5;

/** Imports a file of recipients. Undefined if there is no server of the database. */
export async function benchCampaignImport(
  database: (typeof DATABASES)[number],
  recipients: number,
): Promise<CampaignImport | undefined> {
  const place = await databaseOf(database);
  if (!place) return undefined;
  const order = { kind: 'ours', adapter: 'express', url: place.url, dispatch: false, campaigns: true };
  const target = await startTarget(order);
  const { id } = await post(target, 'campaigns', 'application/json', draft());
  const heap: number[] = [];
  const file = fileOf(recipients, async () => {
    heap.push(await target.heap());
  });
  const begun = performance.now();
  const { imported } = await post(target, `campaigns/${id}/recipients`, 'text/csv', file);
  const seconds = (performance.now() - begun) / 1000;
  if (imported !== recipients) throw new Error(`${imported} of ${recipients} recipients were imported.`);
  const memory = await target.memory();
  await target.stop();
  await place.drop();
  return { perSecond: recipients / seconds, heap, memory };
}

function draft(): string {
  return JSON.stringify({ name: 'bench', signature: 'INFOS', content: CONTENT });
}

/**
 * A file of CSV with about 100 bytes a row.
 * @param look called after each fifth of it
 */
function fileOf(recipients: number, look: () => Promise<void>): ReadableStream {
  const rest = 'x'.repeat(75);
  let row = 0;
  return new ReadableStream({
    async pull(controller) {
      let text = row === 0 ? 'number,name,note\n' : '';
      for (const end = Math.min(recipients, row + SLICE); row < end; row++) {
        text += `${22_670_000_000 + row},Awa ${row},${rest}\n`;
      }
      controller.enqueue(Buffer.from(text));
      if (row % (recipients / LOOKS) === 0) await look();
      if (row >= recipients) controller.close();
    },
  });
}

async function post(target: Target, path: string, type: string, body: string | ReadableStream) {
  const response = await fetch(`${target.base}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': type, 'x-api-key': target.key },
    body,
    duplex: 'half',
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text.slice(0, 200));
  return JSON.parse(text);
}

/**
 * The rate at which a campaign is accepted and delivered, against that at which the same SMS, already accepted, are delivered.
 * @returns the median over the turns; undefined if there is no server of the database
 */
export async function benchCampaignFeed(
  database: (typeof DATABASES)[number],
  recipients: number,
  turns: number,
): Promise<number | undefined> {
  const ratios: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const [queued, drafted] = [await databaseOf(database), await databaseOf(database)];
    if (!queued || !drafted) return undefined;
    const drained = await drain(queued, recipients);
    ratios.push(drained / (await run(drafted, recipients)));
  }
  return median(ratios);
}

async function drain(place: TargetDatabase, recipients: number): Promise<number> {
  await withHost(place.url, false, async (app) => {
    const id = await fundedAccount(app, recipients);
    const sms = app.get(SmsService, { strict: false });
    for (let from = 0; from < recipients; from += SLICE) {
      const to = entries(from, Math.min(recipients, from + SLICE));
      await sms.send(id, { signature: 'INFOS', content: CONTENT, priority: 'bulk', to });
    }
  });
  return delivered(place, recipients);
}

async function run(place: TargetDatabase, recipients: number): Promise<number> {
  await withHost(place.url, false, async (app) => {
    const account = await fundedAccount(app, recipients);
    const campaigns = app.get(CampaignService, { strict: false });
    const { reply } = await campaigns.create(account, { name: 'bench', signature: 'INFOS', content: CONTENT });
    const id = String(Object(reply).id);
    await campaigns.importList(account, id, entries(0, recipients));
    await campaigns.start(account, id);
  });
  return delivered(place, recipients);
}

/** How long a process takes from its start until it has delivered so many, in milliseconds. */
async function delivered(place: TargetDatabase, recipients: number): Promise<number> {
  const begun = performance.now();
  await withHost(place.url, true, (app) => app.get(Arrivals).of(recipients));
  const took = performance.now() - begun;
  await place.drop();
  return took;
}

async function fundedAccount(app: Parameters<Parameters<typeof withHost>[2]>[0], units: number): Promise<string> {
  const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'bench' });
  await app.get(LedgerService, { strict: false }).topUp(id, units);
  return id;
}

function entries(from: number, to: number) {
  return Array.from({ length: to - from }, (_, index) => ({
    number: String(22_670_000_000 + from + index),
    vars: { name: `Awa ${from + index}` },
  }));
}
