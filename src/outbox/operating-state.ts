import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Notifier } from '../common/notifier.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, rowsOf } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';

/** A pause: workers claim nothing of one channel, of one account, or of one account on one channel. */
export interface QueuePause {
  /** Undefined: all channels. */
  readonly channel: string | undefined;
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** The queues and routes that operators have switched off. */
export interface OperatingState {
  readonly pauses: readonly QueuePause[];
  /** The names of routes that get no new attempts. */
  readonly rested: ReadonlySet<string>;
}

/** Reads the queues and routes that operators have switched off. */
export class OperatingStore {
  constructor(protected readonly database: Database) {}

  /** @throws StorageUnavailableError */
  state(): Promise<OperatingState> {
    return this.database.read(readState);
  }
}

function* readState(): Operation<OperatingState> {
  // This is one statement, because it runs every few seconds. An empty id means none, because no account and no route
  // has one.
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

/**
 * The age in milliseconds from which the state is read again. It is less than the promised 5 s, to leave time for the
 * read.
 */
const REFRESH_AFTER_MS = 2000;

const NOTHING: OperatingState = { pauses: [], rested: new Set() };

/**
 * Remembers the queues and routes that operators have switched off. The state is read again if it is older than two
 * seconds when it is needed, and after a notice. While the storage is unavailable, the last known state is used.
 */
@Injectable()
export class OperatingSwitches {
  private seen: OperatingState | undefined;
  /** When the last read began, by the clock's `elapsed`. */
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

  /** The state, at most about two seconds old. @throws StorageUnavailableError if it could never be read */
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

  /** Returns the last known state at once. If it is old, a newer state is read for the next call. */
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
      // If a notice came meanwhile, the result of this read is out of date and is not stored.
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
