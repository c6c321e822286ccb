import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Notifier } from '../common/notifier.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, rowsOf } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';

/** Queues of which nothing is claimed: of one channel, of one account, or of both. */
export interface QueuePause {
  /** Undefined: all channels. */
  readonly channel: string | undefined;
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** What operators have switched off. */
export interface OperatingState {
  readonly pauses: readonly QueuePause[];
  /** The names of routes that take no new attempts. */
  readonly rested: ReadonlySet<string>;
}

/** Reads what operators have switched off. */
export class OperatingStore {
  constructor(protected readonly database: Database) {}

  /** @throws StorageUnavailableError */
  state(): Promise<OperatingState> {
    return this.database.read(readState);
  }
}

function* readState(): Operation<OperatingState> {
  // One statement, as it is read every few seconds. No account and no route has an empty id.
  const rows = yield* rowsOf(
    `SELECT channel, account_id, paused_at, '' AS route FROM messaging_pause
      UNION ALL SELECT '', '', rested_at, id FROM messaging_rested_route`,
  );
  const pauses = rows.filter(({ route }) => route === '');
  return {
    pauses: pauses.map((row) => ({
      channel: textOf(row, 'channel') || undefined,
      accountId: textOf(row, 'account_id') || undefined,
      since: integerOf(row, 'paused_at'),
    })),
    rested: new Set(rows.flatMap((row) => textOf(row, 'route') || [])),
  };
}

/** Age in milliseconds from which on the state is read again. Below the promised 5 s, to allow for the read. */
const REFRESH_AFTER_MS = 2000;

const NOTHING: OperatingState = { pauses: [], rested: new Set() };

/**
 * What operators have switched off, as this process knows it: read when it is asked for and older than two seconds, and after a
 * notice. While the storage is away, what was known last holds.
 */
@Injectable()
export class OperatingSwitches {
  private seen: OperatingState | undefined;
  /** The start of the last read by the clock's `elapsed`. */
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<OperatingState> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly store: OperatingStore,
    notifier: Notifier,
  ) {
    notifier.listen('operating', () => {
      this.readAt = Number.NEGATIVE_INFINITY;
      this.reading = undefined;
    });
  }

  /** The state, at most about two seconds old. @throws StorageUnavailableError where it was never read */
  async current(): Promise<OperatingState> {
    const { seen } = this;
    if (seen !== undefined && this.isFresh) return seen;
    try {
      return await this.read();
    } catch (error) {
      if (seen === undefined) throw error;
      return seen;
    }
  }

  /** What is known, at once; a newer state is read for the next time. */
  peek(): OperatingState {
    if (!this.isFresh) this.read().catch(() => undefined);
    return this.seen ?? NOTHING;
  }

  /** The accounts of a channel that are paused, or `all`; undefined: none. */
  async pausedOf(channel: string): Promise<'all' | readonly string[] | undefined> {
    const { pauses } = await this.current();
    if (pauses.length === 0) return undefined;
    const own = pauses.filter((pause) => pause.channel === undefined || pause.channel === channel);
    const accounts = own.flatMap(({ accountId }) => accountId ?? []);
    if (accounts.length < own.length) return 'all';
    return accounts.length > 0 ? [...new Set(accounts)] : undefined;
  }

  private get isFresh(): boolean {
    return this.clock.elapsed() - this.readAt < REFRESH_AFTER_MS;
  }

  private read(): Promise<OperatingState> {
    if (this.reading) return this.reading;
    const at = this.clock.elapsed();
    const reading = this.store.state().then((state) => {
      // A notice that came meanwhile has begun another read.
      if (this.reading === reading) {
        this.seen = state;
        this.readAt = at;
      }
      return state;
    });
    this.reading = reading;
    const over = () => {
      if (this.reading === reading) this.reading = undefined;
    };
    reading.then(over, over);
    return reading;
  }
}
