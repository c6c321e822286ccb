import { CrashBooks } from '../support/crash/crash-books.js';
import { type AnsweredSend, CrashLoad, type Sending } from '../support/crash/crash-load.js';
import { busy, makeAccount, repeated, UNITS } from '../support/crash/crash-loop.js';
import { CrashProcess, type CrashSettings } from '../support/crash/crash-process.js';
import { OwnRedis } from '../support/databases/own-redis.js';
import { ApiClient } from '../support/http/api-client.js';
import { phoneOf } from '../support/http/sms-client.js';
import { MsgappClient } from '../support/msgapp/msgapp-app.js';
import { CountingCarrier, isRefused } from './counting-carrier.js';
import type { TortureDatabase } from './databases.js';
import type { Fault, Ground } from './faults.js';

/** The distance between the keys and numbers of two loads. */
const LOAD_APART = 100_000;
const CLIENTS = 8;
const MAX_LINKS = 5;
/** Twice the time that a request may take. */
const LAST_ANSWER_MS = 90_000;
/** More than the error of a clock that was read from a slow server, and less than that of a wrong clock in a test. */
const CLOCKS_APART_MS = 60_000;
const MOMENTS = [
  ['message', 'accepted_at'],
  ['recipient', 'updated_at'],
  ['ledger', 'posted_at'],
] as const;

/** How a process differs from the others of its service. */
export type Member = Pick<CrashSettings, 'role' | 'aheadMs'>;

/** The set-up of a service. */
export interface SiegeSettings extends Pick<CrashSettings, 'adapter' | 'naive' | 'ownClock'> {
  /** Its processes. The first one links the number. */
  readonly crew: readonly Member[];
  readonly repeat: 'at-least-once' | 'at-most-once' | 'idempotent';
  /** The processes notify each other through a Redis that belongs to the test. */
  readonly redis?: boolean;
}

/** The state that a fault under load has left, when all work has finished. */
export interface Siege {
  readonly struck: number;
  readonly answered: number;
  readonly retries: number;
  readonly unknown: number;
  readonly duplicates: number;
  readonly refunded: number;
  /** All faults, as sentences. */
  readonly problems: readonly string[];
}

/**
 * A service of some processes on one database, with a carrier that counts. Clients send on all channels during faults.
 */
export class BesiegedService {
  private readonly answered = new Map<string, AnsweredSend>();
  private loads = 0;

  private constructor(
    readonly ground: Ground,
    readonly books: CrashBooks,
    private readonly key: string,
    private readonly settings: SiegeSettings,
  ) {}

  /** @param database is closed with the service, also if it cannot start */
  static async open(
    database: TortureDatabase,
    settings: SiegeSettings,
    random: () => number,
  ): Promise<BesiegedService> {
    const hosts: CrashProcess[] = [];
    const carrier = await CountingCarrier.listen(random, () => hosts, settings.repeat === 'idempotent');
    const closing = [() => carrier.close(), () => database.close()];
    try {
      const { crew, repeat, redis: hasRedis, ...others } = settings;
      const redis = hasRedis ? await OwnRedis.start() : undefined;
      if (redis) closing.unshift(() => redis.close());
      const { key } = await makeAccount(database.url);
      const books = await CrashBooks.open(database.url);
      closing.unshift(() => books.close());
      const order: CrashSettings = {
        database: database.hostUrl,
        carrier: repeat,
        channels: { codes: 'none' },
        ...others,
        gateway: { url: carrier.url, secret: carrier.secret },
        ...(redis && { notifier: { kind: 'redis', url: redis.url } }),
      };
      const { hostUrls = [database.hostUrl] } = database;
      const urlOf = (index: number) => hostUrls[index % hostUrls.length] ?? database.hostUrl;
      hosts.push(...crew.map((member, index) => new CrashProcess({ ...order, database: urlOf(index), ...member })));
      const [first, ...further] = hosts;
      if (!first) throw new Error('A service has a process.');
      closing.unshift(...hosts.map((host) => () => host.close()));
      await Promise.all(hosts.map((host) => host.start().answering));
      const client = new MsgappClient(new ApiClient(`${first.url}/api/v1`, '', key), first.url);
      await linked(client, MAX_LINKS);
      const ground: Ground = { hosts: [first, ...further], database, carrier, random, ...(redis && { redis }) };
      const service = new BesiegedService(ground, books, key, settings);
      service.close = () => closeAll(closing);
      return service;
    } catch (error) {
      await closeAll(closing);
      throw error;
    }
  }

  close: () => Promise<void> = async () => {};

  /** Load before, during and after the fault, and then the check of the ledger. */
  async endure(fault: Fault): Promise<Siege> {
    const { hosts } = this.ground;
    const from = this.loads++ * LOAD_APART;
    const load = new CrashLoad(() => hosts, this.key, { clients: CLIENTS, sending: anyChannel, from });
    let struck = 0;
    try {
      await busy(load);
      struck = await fault.strike({ ...this.ground, load });
      await busy(load);
    } finally {
      await load.finishWithin(LAST_ANSWER_MS);
    }
    for (const [once, send] of load.answered) this.answered.set(once, send);
    const unsettled = await this.books.settled().then(
      () => [],
      (error) => [String(error)],
    );
    const problems = [...load.surprises, ...unsettled, ...(await repeated(load)), ...(await this.problems())];
    if (problems.length > 0) problems.unshift(...hosts.map(({ errors }) => `a host logged: ${errors.slice(-2000)}`));
    const deliveries = await this.books.deliveries();
    return {
      struck,
      problems,
      answered: load.answered.size,
      retries: load.unanswered,
      unknown: deliveries.filter(({ status }) => status === 'unknown').length,
      refunded: deliveries.filter(({ status }) => status === 'failed').length,
      duplicates: this.ground.carrier.duplicates,
    };
  }

  /** All faults of everything that was ever answered: in the ledger, and at the carrier. */
  async problems(): Promise<string[]> {
    return [
      ...(await this.books.problems(this.answered, UNITS, false)),
      ...(await this.replicaProblems()),
      ...(await this.carriageProblems()),
      ...(await this.timeProblems()),
    ];
  }

  private async replicaProblems(): Promise<string[]> {
    const all: string[] = [];
    for (const [index, url] of (this.ground.database.replicas ?? []).entries()) {
      const books = await CrashBooks.open(url);
      const problems = await books.problems(this.answered, UNITS, false);
      await books.close();
      all.push(...problems.map((problem) => `on replica ${index + 1}: ${problem}`));
    }
    return all;
  }

  /** All processes share this machine's clock. A time that a process with another clock stores lies in the future. */
  private async timeProblems(): Promise<string[]> {
    const times = await Promise.all(
      MOMENTS.map(async ([table, column]) => {
        const late = `SELECT ${column} AS at FROM messaging_${table} WHERE ${column} > ${Date.now() + CLOCKS_APART_MS}`;
        return { column, count: (await this.books.query(late)).length };
      }),
    );
    return times.flatMap(({ column, count }) => (count > 0 ? [`${count} times ${column} lies in the future`] : []));
  }

  private async carriageProblems(): Promise<string[]> {
    const { taken } = this.ground.carrier;
    const shown = new Map<string, number>();
    for (const { number } of await this.books.query('SELECT number FROM messaging_phone_message')) {
      shown.set(String(number), (shown.get(String(number)) ?? 0) + 1);
    }
    const { repeat } = this.settings;
    return (await this.books.deliveries()).flatMap(({ channel, number, status }) => {
      const times = (channel === 'sms' ? taken : shown).get(number) ?? 0;
      const what = `${channel} to ${number} is ${status} and was carried ${times} times`;
      if (status === 'delivered' && times === 0) return [what];
      if (status === 'failed' && (times > 0 || (channel === 'sms' && !isRefused(number)))) return [what];
      if (times > 1 && !(repeat === 'at-least-once' && channel === 'sms')) return [what];
      if (status === 'unknown' && repeat === 'idempotent') return [what];
      return [];
    });
  }
}

/**
 * On a loaded machine a lease may end while a code is shown, and another process shows another code. Then the scan is
 * answered 404.
 */
async function linked(client: MsgappClient, tries: number): Promise<void> {
  try {
    await client.link('22679000000');
  } catch (error) {
    if (tries === 1) throw error;
    await linked(client, tries - 1);
  }
}

const PRIORITIES = [undefined, 'high', 'normal', 'bulk'] as const;

/** All channels and priorities. Each number is used for one send only. */
function anyChannel(place: number): Sending {
  const kind = place % 10;
  const number = phoneOf(place);
  const priority = PRIORITIES[Math.floor(place / 10) % PRIORITIES.length];
  if (kind === 9) return { channel: 'msgapp', numbers: [number], priority };
  if (kind > 6) return { channel: 'otp', numbers: [number] };
  if (kind !== 6) return { channel: 'sms', numbers: [number], priority };
  return { channel: 'sms', numbers: [5, 6, 7].map((network) => number.replace(/^2267/, `226${network}`)), priority };
}

async function closeAll(closing: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closing) await close().catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
