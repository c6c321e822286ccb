import { Client } from 'pg';
import { postgresUrl, startTarget, type Target } from '../target.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.js';
import { ACCOUNTS, DAYS, fillManaged } from './management-fill.js';

const [MAIN] = ACCOUNTS;

/** Quantiles of times in milliseconds. */
export interface Took {
  readonly p50: number;
  readonly p95: number;
  readonly worst: number;
}

/** The times of the dashboard's requests to a service with millions of stored messages. */
export interface ManagementRun {
  /** The time until all past hours were rolled up, and the number of hours of all accounts. */
  readonly rollUp: { readonly seconds: number; readonly hours: number };
  /**
   * The times of a hundred sends a second: before the roll-up, while another process rolls up, and in the process that
   * rolls up.
   */
  readonly sends: readonly (readonly [when: string, took: Took])[];
  readonly lists: readonly (readonly [request: string, page: string, took: Took])[];
  /** The times of requests for the usage of 30 days. */
  readonly usage: readonly (readonly [request: string, when: string, took: Took])[];
}

/** Measures the requests; undefined without a PostgreSQL server. */
export async function benchManagement(stored: number): Promise<ManagementRun | undefined> {
  const place = await postgresUrl();
  if (!place) return undefined;
  await fillManaged(place.url, stored);
  const { url } = place;
  const run = { ...(await measureRollUp(url)), lists: await measureLists(url, 40), usage: await measureUsage(url) };
  await place.drop();
  return run;
}

/** Prints the results: p50 and p95 of each kind of request. */
export function printManagement({ rollUp, sends, lists, usage }: ManagementRun): void {
  const shown = ({ p50, p95, worst }: Took) =>
    `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`;
  const line = (name: string, took: Took) => console.log(`    ${name.padEnd(64)} ${shown(took)}`);
  console.log(`  usage rolled up from nothing: ${rollUp.seconds.toFixed(0)} s for ${rollUp.hours} hours of accounts`);
  console.log('  a send:');
  for (const [when, took] of sends) line(when, took);
  console.log('  a page of 50 (wanted: p95 under 100 ms):');
  for (const [request, page, took] of lists) line(`${request}: ${page}`, took);
  console.log('  usage of 30 days (wanted: under 1 s):');
  for (const [group, when, took] of usage) line(`by ${group}: ${when}`, took);
}

function managed(url: string, dispatch = false): object {
  return { kind: 'management', adapter: 'express', url, dispatch, account: MAIN };
}

/** Rolls up the messages of `fillManaged` while SMS are sent. */
export async function measureRollUp(url: string): Promise<Pick<ManagementRun, 'rollUp' | 'sends'>> {
  const until = Date.now() - 10 * MINUTE_MS;
  const ended = until - (until % HOUR_MS);
  const client = new Client({ connectionString: url });
  await client.connect();
  const target = await startTarget(managed(url));
  const before = await sendsUntil(target, 100, wait(10_000));
  const began = performance.now();
  const worker = await startTarget(managed(url, true));
  const rolledUp = async () => {
    for (;;) {
      const { rows } = await client.query(
        'SELECT count(*)::int AS done FROM messaging_usage_account WHERE done_until >= $1 AND claimed_until = 0',
        [ended],
      );
      if (rows[0]?.done === ACCOUNTS.length) return (performance.now() - began) / 1000;
      await wait(200);
    }
  };
  const end = rolledUp();
  const [beside, within] = await Promise.all([sendsUntil(target, 50, end), sendsUntil(worker, 50, end)]);
  const { rows } = await client.query('SELECT count(*)::int AS hours FROM messaging_usage_hour');
  await client.end();
  await Promise.all([target.stop(), worker.stop()]);
  return {
    rollUp: { seconds: await end, hours: Number(rows[0]?.hours) },
    sends: [
      ['before the roll-up', tookOf(before)],
      ['while another process rolls up', tookOf(beside)],
      ['in the process that rolls up', tookOf(within)],
    ],
  };
}

/** Sends a number of SMS a second until `end` resolves. Returns the time of each. */
async function sendsUntil({ base, key }: Target, perSecond: number, end: Promise<unknown>): Promise<readonly number[]> {
  let hasEnded = false;
  const ended = end.finally(() => {
    hasEnded = true;
  });
  const began = performance.now();
  const took: number[] = [];
  const open: Promise<void>[] = [];
  const send = async (): Promise<void> => {
    const asked = performance.now();
    const body = JSON.stringify({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const answer = await fetch(`${base}/api/v1/send/sms`, { method: 'POST', headers, body });
    if (answer.status !== 200) throw new Error(`A send was answered ${answer.status}.`);
    await answer.text();
    took.push(performance.now() - asked);
  };
  for (let sent = 0; !hasEnded; sent++) {
    open.push(send());
    const next = began + ((sent + 1) * 1000) / perSecond;
    if (next > performance.now()) await wait(next - performance.now());
  }
  await Promise.all([...open, ended]);
  return took;
}

/** Makes a request as a user who has signed in. */
type Get = (path: string, query: Readonly<Record<string, string>>) => Promise<Record<string, unknown>>;

async function signIn({ base, links }: Target, as: 'admin' | 'operator'): Promise<Get> {
  const session = await fetch(`${base}/api/v1/session/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token: Object(links)[as] }),
  });
  const authorization = `Bearer ${Object(await session.json()).access_token}`;
  return async (path, query) => {
    const answer = await fetch(`${base}/api/v1/${path}?${new URLSearchParams(query)}`, { headers: { authorization } });
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}.`);
    return Object(await answer.json());
  };
}

/** The filter of a request for the list of messages. `n` counts the requests, so that each filter is another one. */
type Filter = (n: number) => Readonly<Record<string, string>>;

const numberOf = (n: number) => `22670${String((n * 7919) % 1_000_000).padStart(6, '0')}`;
const dayOf = (n: number) => {
  const start = Date.now() - (Date.now() % DAY_MS) - (1 + (n % (DAYS - 2))) * DAY_MS;
  return { since: iso(start), until: iso(start + DAY_MS) };
};

const SMS: Readonly<Record<string, Filter>> = {
  all: () => ({}),
  'status=failed': () => ({ status: 'failed' }),
  'status=unknown, one in 20 000': () => ({ status: 'unknown' }),
  number: (n) => ({ number: numberOf(n) }),
  'number and status': (n) => ({ number: numberOf(n), status: 'failed' }),
  signature: () => ({ signature: 'ALERTE' }),
  'metadata, one in 53': (n) => ({ 'metadata.campaign': `c${n % 53}` }),
  'metadata, one message': (n) => ({ 'metadata.order': String(1 + n * 997) }),
  'a day': dayOf,
  'a day and status': (n) => ({ ...dayOf(n), status: 'failed' }),
  'a day and number': (n) => ({ ...dayOf(n), number: numberOf(n) }),
};

const APP: Readonly<Record<string, Filter>> = {
  all: () => ({}),
  'status=failed': () => ({ status: 'failed' }),
  to: (n) => ({ to: numberOf(n) }),
  'metadata, one in 53': (n) => ({ 'metadata.campaign': `c${n % 53}` }),
};

const PAGES = [
  ['first', undefined],
  ['middle', DAYS / 2],
  ['end', DAYS - 1],
] as const;

/** Requests each page of each list a number of times. */
export async function measureLists(url: string, requests: number): Promise<ManagementRun['lists']> {
  const target = await startTarget(managed(url));
  const [admin, operator] = [await signIn(target, 'admin'), await signIn(target, 'operator')];
  const lists: (readonly [string, string, Took])[] = [];
  const measure = async (name: string, get: Get, path: string, filters: typeof SMS, also = {}): Promise<void> => {
    for (const [filter, query] of Object.entries(filters)) {
      for (const [page, daysAgo] of PAGES) {
        const took: number[] = [];
        for (let n = 0; n < requests; n++) {
          const wanted = { ...query(n), ...also };
          const cursor = daysAgo === undefined ? '' : await cursorAt(get, path, wanted, daysAgo + n / 100);
          if (cursor === null) continue;
          const began = performance.now();
          await get(path, { ...wanted, limit: '50', ...(cursor !== '' && { cursor }) });
          took.push(performance.now() - began);
        }
        if (took.length > 0) lists.push([`${name}, ${filter}`, page, tookOf(took)]);
      }
    }
  };
  await measure('sms', admin, 'sms', SMS);
  await measure('msgapp', admin, 'msgapp/messages', APP);
  await measure('sms by an operator', operator, 'sms', SMS, { account: ACCOUNTS[1] });
  await target.stop();
  return lists;
}

/** The cursor of the page after a day, or after the middle of the requested day; null if nothing follows. */
async function cursorAt(get: Get, path: string, query: Readonly<Record<string, string>>, daysAgo: number) {
  const { since } = query;
  const until = since === undefined ? Date.now() - daysAgo * DAY_MS : Date.parse(since) + DAY_MS / 2;
  const { next_cursor: cursor } = await get(path, { ...query, limit: '1', until: iso(until) });
  return typeof cursor === 'string' ? cursor : null;
}

const GROUPS = ['day', 'channel', 'country', 'day,channel,country', 'day,channel,country,signature,key'] as const;

/** Requests the usage of 30 days right after a start, then repeatedly, and then while SMS are sent. */
export async function measureUsage(url: string): Promise<ManagementRun['usage']> {
  const target = await startTarget(managed(url));
  const get = await signIn(target, 'admin');
  const rows: (readonly [string, string, Took])[] = [];
  const measure = async (when: string, times: number): Promise<void> => {
    for (const group of GROUPS) {
      const took: number[] = [];
      for (let turn = 0; turn < times; turn++) {
        const began = performance.now();
        await get('usage', { group_by: group });
        took.push(performance.now() - began);
      }
      rows.push([group, when, tookOf(took)]);
    }
  };
  await measure('cold', 1);
  await measure('repeated', 20);
  const measured = measure('while 100 SMS a second are sent', 20);
  await sendsUntil(target, 100, measured);
  await target.stop();
  return rows;
}

function tookOf(all: readonly number[]): Took {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), worst: at(1) };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
