import { TypeormStorage } from 'nestjs-messaging';
import { type Delivery, decide, OutboxStore } from 'nestjs-messaging/storage';
import { v7 as timeOrderedId } from 'uuid';
import { dataSourceOf } from '../storage/written-trees.js';
import { type DATABASES, databaseOf } from '../target.js';
import { DAY_MS, MINUTE_MS } from '../time.js';
import { median } from '../versus.js';

/** What claims take beside rows that are due tomorrow, against the same without these rows. */
export interface BesideScheduled {
  /** A claim of 500: the median over the turns of the medians' ratios, and both medians in milliseconds. */
  readonly full: Compared;
  /** A claim that finds nothing. */
  readonly empty: Compared;
}

interface Compared {
  readonly ratio: number;
  readonly beside: number;
  readonly alone: number;
}

const BATCH = 500;
/** How many claims of each kind a turn makes on each database. */
const CLAIMS = 20;
/** The most recipients of one send. */
const SEND = 100_000;

/**
 * Measures claims on two databases in turns: one has rows that are due tomorrow, divided equally between some accounts, and the
 * other has none. The claimed rows belong to one of these accounts. Undefined without a server.
 */
export async function benchSchedule(
  database: (typeof DATABASES)[number],
  scheduled: number,
  accounts: number,
  turns: number,
): Promise<BesideScheduled | undefined> {
  const [besidePlace, alonePlace] = [await databaseOf(database), await databaseOf(database)];
  if (!besidePlace || !alonePlace) return undefined;
  const [beside, alone] = [await Queue.open(besidePlace.url, accounts), await Queue.open(alonePlace.url, accounts)];
  await beside.fill(scheduled);
  await Promise.all([beside.analyse(), alone.analyse()]);
  const [full, empty]: [Turn[], Turn[]] = [[], []];
  for (let turn = -2; turn < turns; turn++) {
    const times = { full: new Turn(), empty: new Turn() };
    for (const queue of [beside, alone]) await queue.accept(BATCH * CLAIMS);
    for (const [kind, expected] of [
      ['full', BATCH],
      ['empty', 0],
    ] as const) {
      for (let claim = 0; claim < CLAIMS; claim++) {
        const order = [
          [beside, times[kind].beside],
          [alone, times[kind].alone],
        ] as const;
        // The two take turns at being the first, because the second one finds other things in the processor's caches.
        for (const [queue, list] of claim % 2 === 0 ? order : order.toReversed())
          list.push(await queue.claim(expected));
      }
    }
    // The first two turns warm up.
    if (turn < 0) continue;
    full.push(times.full);
    empty.push(times.empty);
  }
  for (const queue of [beside, alone]) await queue.close();
  for (const place of [besidePlace, alonePlace]) await place.drop();
  return { full: compared(full), empty: compared(empty) };
}

/** The times of one turn, in milliseconds. */
class Turn {
  readonly beside: number[] = [];
  readonly alone: number[] = [];
}

function compared(turns: readonly Turn[]): Compared {
  return {
    ratio: median(turns.map(({ beside, alone }) => median(beside) / median(alone))),
    beside: median(turns.map(({ beside }) => median(beside))),
    alone: median(turns.map(({ alone }) => median(alone))),
  };
}

class Queue {
  private constructor(
    private readonly url: string,
    private readonly accounts: number,
    private readonly storage: TypeormStorage,
    private readonly outbox: OutboxStore,
  ) {}

  static async open(url: string, accounts: number): Promise<Queue> {
    const storage = new TypeormStorage({ database: url });
    await storage.start();
    const queue = new Queue(url, accounts, storage, storage.store(OutboxStore));
    const rows = Array.from({ length: accounts }, (_, n) => `('${accountOf(n)}', 'bench', 1000000000, 0)`);
    await queue.query(`INSERT INTO messaging_account (id, name, balance, created_at) VALUES ${rows.join(', ')}`);
    return queue;
  }

  /** Stores recipients that are due tomorrow, as many for each account. */
  async fill(recipients: number): Promise<void> {
    const each = Math.ceil(recipients / this.accounts);
    for (let account = 0; account < this.accounts; account++) {
      for (let left = each; left > 0; left -= SEND) await this.accept(Math.min(left, SEND), account, DAY_MS);
    }
  }

  async accept(count: number, account = 0, inMs = 0): Promise<void> {
    const recipients = Array.from({ length: count }, (_, index) => ({
      number: String(22_670_000_000 + index),
      units: 1,
    }));
    const at = Date.now();
    const [outcome] = await this.outbox.commit(
      [
        {
          id: timeOrderedId(),
          accountId: accountOf(account),
          channel: 'sms',
          sender: 'INFOS',
          payload: { kind: 'text', text: 'Bonjour' },
          recipients,
          at,
          reply: {},
          ...(inMs > 0 && { schedule: { sendAt: at + inMs } }),
        },
      ],
      decide,
    );
    if (outcome?.kind !== 'accepted') throw new Error(`A send was ${outcome?.kind}.`);
  }

  /** Claims and settles a batch. Returns the milliseconds of the claim: on SQLite, processor time. */
  async claim(expected: number): Promise<number> {
    const now = Date.now();
    const isOurs = this.url.startsWith('sqlite');
    const begun = isOurs ? processorMs() : performance.now();
    const order = { channel: 'sms', limit: BATCH, now, leaseUntil: now + MINUTE_MS, abandoned: true };
    const claimed = await this.outbox.claim(order);
    const took = (isOurs ? processorMs() : performance.now()) - begun;
    if (claimed.length !== expected) throw new Error(`A claim got ${claimed.length} of ${expected}.`);
    await this.outbox.settle(claimed.map(delivered));
    return took;
  }

  /** Lets the server look at its rows, as it does by itself after some time. SQLite does not. */
  async analyse(): Promise<void> {
    if (this.url.startsWith('sqlite')) return;
    await this.query(this.url.startsWith('mysql') ? 'ANALYZE TABLE messaging_recipient' : 'ANALYZE');
  }

  async close(): Promise<void> {
    await this.storage.stop();
  }

  private async query(sql: string): Promise<void> {
    const source = await dataSourceOf(this.url);
    await source.query(sql);
    await source.destroy();
  }
}

/** The processor time of this process, which other work on the machine changes little. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function accountOf(n: number): string {
  return `account-${n}`;
}

function delivered({ messageId, position, attempt }: Delivery) {
  return { messageId, position, attempt, status: 'delivered' as const, at: Date.now(), trail: [] };
}
