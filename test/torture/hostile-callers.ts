import { setTimeout as pause } from 'node:timers/promises';
import { TypeormStorage } from '../../src/messaging/typeorm-storage.js';
import { decide } from '../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../src/outbox/outbox-store.js';
import { recipients } from '../contract/storage/fixtures.js';
import { until } from '../support/common/until.js';
import { type Call, call } from '../support/http/http-client.js';
import { phoneOf } from '../support/http/sms-client.js';
import type { CrowdedService } from './crowded-service.js';
import type { Engine } from './databases.js';
import { byForm, note } from './form.js';

/** What one caller does to a service, and on which one. */
export interface HostileCaller {
  /** The issue that asks for the check. */
  readonly item: number;
  readonly name: string;
  readonly engines: readonly Engine[];
  /** Preparation right before it, during which the other account sends no requests. */
  readonly prepare?: (service: CrowdedService) => Promise<void>;
  /** Returns how often each status came. */
  readonly strike: (service: CrowdedService) => Promise<Tally>;
  /** The caller's own requests are legal, so none of them gets one of these. */
  readonly never?: readonly (number | string)[];
  /** What the other account does, if more than asking for its balance. */
  readonly other?: { readonly path: string; readonly body: object };
}

/** How often each status came; 0: no answer. */
export type Tally = Readonly<Record<string, number>>;

const SERVERS: readonly Engine[] = ['postgres', 'mariadb'];
/** No hostile request is waited for longer than this. */
const PATIENCE_MS = byForm(30_000, 120_000);
const SERVICE = 'Boutique';
const NUMBER = phoneOf(1);
const CROWD = 300;
const NOT_BESIDE = 'codes that nobody holds had to wait for the host';
const NOTHING_LEFT = 'code behind all overdue reports';
const STILL_OVERDUE =
  "SELECT count(*) AS waiting FROM messaging_recipient WHERE message_id = 'overdue' AND status = 'sent'";
/** Less than the wait for a lock, so requests that wait for the host's transaction are answered. */
const HELD_MS = 4000;
/** Under `strict` an account may send 30 codes an hour to a country in which none is verified. */
const CODES = 10;

/** 47 MB of JSON that is within all limits and means nothing. */
const structured = () => `{"x":[${'{},'.repeat(15_600_000)}{}]}`;
/** 1 MB of a form with 500 000 fields. */
const form = 'a&'.repeat(500_000);

export const HOSTILE_CALLERS: readonly HostileCaller[] = [
  ...([undefined, 'a-key'] as const).map(
    (once): HostileCaller => ({
      item: 1,
      name: `4 bodies of 47 MB of {},{},…${once ? ' under Idempotency-Keys' : ''}`,
      engines: ['sqlite'],
      strike: ({ hostile }) => {
        const body = Buffer.from(structured());
        return crowd(4, (index) => ({
          url: `${hostile.url}/send/sms`,
          method: 'POST',
          body,
          headers: {
            'x-api-key': hostile.key,
            'content-type': 'application/json',
            ...(once && { 'idempotency-key': `${once}-${index}` }),
          },
        }));
      },
    }),
  ),
  {
    item: 5,
    name: "200 strangers' callbacks of 1 MB and 500 000 fields",
    engines: ['sqlite'],
    strike: ({ host }) =>
      crowd(200, () => ({
        url: `${host.url}/api/v1/sms/callbacks/twilio`,
        method: 'POST',
        body: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })),
  },
  {
    item: 6,
    name: `listings of ${byForm(3, 20)} messages to 100 000`,
    engines: ['sqlite'],
    prepare: async ({ hostile }) => {
      const number = Array.from({ length: 100_000 }, (_, index) => phoneOf(index));
      for (let sends = 0; sends < byForm(3, 20); sends++) {
        await hostile.sent({ signature: 'INFOS', content: 'Bonjour', number });
      }
    },
    strike: async ({ hostile }) => {
      const { smsID } = (await hostile.list('?limit=1')).items[0] ?? {};
      return crowd(byForm(4, 20), (index) => asHostile(hostile, index % 2 ? `sms/${smsID}` : 'sms?limit=50'));
    },
    never: [429, 503],
  },
  {
    item: 7,
    name: 'connect in a loop',
    engines: ['sqlite'],
    strike: async ({ hostile }) => {
      const tally: Record<string, number> = {};
      const end = Date.now() + byForm(2000, 20_000);
      const loop = async () => {
        while (Date.now() < end) add(tally, await statusOf(asHostile(hostile, 'msgapp/web/connect', {})));
      };
      await Promise.all(Array.from({ length: 16 }, loop));
      return tally;
    },
  },
  {
    item: 3,
    name: `${CROWD} verifies of one number`,
    engines: SERVERS,
    prepare: async ({ hostile }) => {
      const { status, body } = await hostile.post('send/otp', { service: SERVICE, number: NUMBER });
      if (status !== 200) throw new Error(`No code: ${JSON.stringify(body)}`);
    },
    strike: ({ hostile }) => {
      const attempt = { service: SERVICE, number: NUMBER, otp: '0000' };
      return crowd(CROWD, () => asHostile(hostile, 'verify/otp', attempt), byForm(2, 10));
    },
    never: [429, 503],
  },
  {
    item: 3,
    name: `${CROWD} listings`,
    engines: SERVERS,
    prepare: async ({ hostile }) => {
      for (let sends = 0; sends < 100; sends++) {
        await hostile.sent({ signature: 'INFOS', content: 'Bonjour', number: [phoneOf(sends)] });
      }
    },
    strike: ({ hostile }) => crowd(CROWD, () => asHostile(hostile, 'sms?limit=500'), byForm(1, 5)),
    never: [429, 503],
  },
  {
    item: 3,
    name: `${CROWD} postings to one account`,
    engines: SERVERS,
    strike: async (service) => {
      const tally = await crowd(
        CROWD,
        () => ({ url: `${service.host.url}/host/top-up`, method: 'POST' }),
        byForm(1, 5),
      );
      service.toppedUp += tally[200] ?? 0;
      return tally;
    },
    // The host's own route answers any failure with 500.
    never: [500],
  },
  {
    item: 4,
    name: `${byForm(20_000, 100_000)} overdue reports, and a code`,
    engines: ['postgres'],
    prepare: async (service) => {
      // Without a delivering host: messages that are queued for a moment must not be delivered.
      await service.host.end('SIGTERM');
      await overdue(service, byForm(20_000, 100_000));
      await service.host.start().answering;
    },
    strike: async (service) => {
      // No other caller here has sent anything to it.
      const number = apart(1);
      const from = performance.now();
      const { status } = await service.hostile.post('send/otp', { service: 'Retard', number });
      const url = `${service.host.url}/sandbox/phones/${number}/messages`;
      await until(
        () => call(url),
        ({ body }) => Array.isArray(body) && body.length > 0,
        PATIENCE_MS,
      );
      const took = Math.round(performance.now() - from);
      const [row] = await service.books.query(STILL_OVERDUE);
      const left = Number(row?.waiting);
      note('The code behind overdue reports', { 'arrived after ms': took, 'reports that were overdue still': left });
      // A worker that expired all of them before it claimed anything would leave none.
      return { [status]: 1, ...(left === 0 && { [NOTHING_LEFT]: 1 }) };
    },
    never: [NOTHING_LEFT, 0, 429, 503],
  },
  ...(
    [undefined, { path: 'send/sms', body: { signature: 'INFOS', content: 'Bonjour', number: [NUMBER] } }] as const
  ).map(
    (other): HostileCaller => ({
      item: 8,
      name: `a host transaction that holds a strict code${other ? '; the other one sends' : ''}`,
      engines: SERVERS,
      strike: async ({ host, other: account }) => {
        const first = other ? 200 : 100;
        const held = apart(first);
        const holding = crowd(1, () => ({
          url: `${host.url}/host/hold`,
          method: 'POST',
          body: { number: held, ms: HELD_MS },
        }));
        await until(
          () => call(`${host.url}/host/hold`),
          ({ body }) => String(body) === 'true',
        );
        const code = (number: string) => ({
          url: `${account.url}/api/v1/send/otp`,
          method: 'POST',
          headers: { 'x-api-key': account.key },
          body: { service: 'Attente', number },
        });
        const ended: string[] = [];
        const [hold, waiting, others] = await Promise.all([
          holding.finally(() => ended.push('hold')),
          // The same number, so the record that counts its codes over all accounts is locked.
          crowd(1, () => code(held)).finally(() => ended.push('code to the number that is held')),
          crowd(CODES, (index) => code(apart(first + 1 + index))).finally(() => {
            ended.push('codes to others');
            return call(`${host.url}/host/release`, { method: 'POST', body: {} });
          }),
        ]);
        const late = ended.indexOf('hold') < ended.indexOf('codes to others');
        return { ...sum(hold, waiting, others), ...(late && { [NOT_BESIDE]: 1 }) };
      },
      never: [NOT_BESIDE, 0, 429, 500, 503],
      ...(other && { other }),
    }),
  ),
];

/** A GET as the hostile account, or a POST if there is a body. */
function asHostile({ url, key }: CrowdedService['hostile'], path: string, body?: unknown): HostileRequest {
  const call = body === undefined ? {} : { method: 'POST', body };
  return { url: `${url}/${path}`, ...call, headers: { 'x-api-key': key } };
}

type HostileRequest = Call & { readonly url: string };

/** This many requests at once, repeated this many times. */
async function crowd(size: number, request: (index: number) => HostileRequest, times = 1): Promise<Tally> {
  const tally: Record<string, number> = {};
  for (let time = 0; time < times; time++) {
    const one = async (_: unknown, index: number) => add(tally, await statusOf(request(index)));
    await Promise.all(Array.from({ length: size }, one));
  }
  return tally;
}

function sum(...tallies: readonly Tally[]): Tally {
  const all: Record<string, number> = {};
  for (const tally of tallies) for (const [status, times] of Object.entries(tally)) add(all, status, times);
  return all;
}

/** A number with a prefix of its own: `strict` limits the codes to numbers that differ only in the last four digits. */
function apart(index: number): string {
  return phoneOf(1_000_000 + index * 10_000);
}

/** 0 if no answer comes in time. */
function statusOf({ url, ...rest }: HostileRequest): Promise<number> {
  const late = pause(PATIENCE_MS, 0, { ref: false });
  return Promise.race([
    late,
    call(url, rest)
      .then(({ status }) => status)
      .catch(() => 0),
  ]);
}

function add(tally: Record<string, number>, status: number | string, times = 1): void {
  tally[status] = (tally[status] ?? 0) + times;
}

/** Messages of the hostile account that cost nothing, and whose reports are overdue by a minute. */
async function overdue({ database, hostile }: CrowdedService, count: number): Promise<void> {
  const storage = new TypeormStorage({ database: database.url, migrations: 'check' });
  await storage.start();
  try {
    const at = Date.now() - 3_600_000;
    const id = 'overdue';
    const send = { id, accountId: hostile.accountId, channel: 'sms', sender: 'INFOS', at, reply: { smsID: id } };
    await storage
      .store(OutboxStore)
      .commit([{ ...send, payload: { kind: 'text', text: 'x' }, recipients: recipients(count, 0) }], decide);
    for (let from = 0; from < count; from += 5000) {
      const places = Array.from({ length: Math.min(5000, count - from) }, (_, index) => from + index);
      await storage
        .store(OutboxStore)
        .settle(places.map((position) => ({ messageId: id, position, status: 'sent', at, dueAt: at + 1000 })));
    }
  } finally {
    await storage.stop();
  }
}
