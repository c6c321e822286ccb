import { Logger } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MINUTE_MS } from '../common/time.js';
import type { MessagingStorage } from '../storage/messaging-storage.js';

/** The time between two measurements, in milliseconds. */
const EVERY_MS = MINUTE_MS;

/** The readings of one measurement. Only the reading with the shortest round trip is used. */
const READINGS = 3;

/**
 * The difference between two clocks from which it is reported to the operator, in milliseconds. No round trip explains
 * such a difference.
 */
const NOTICED_MS = 1000;

/**
 * The database's clock, which all processes on one database share. If each process used its own clock, a process whose
 * clock is wrong would take leases that others still have, or its own leases would end at once. The database's clock is
 * read at start and every minute. In between, the time advances with the machine's `elapsed`, so that setting the
 * machine's clock changes nothing. With a storage that has no clock, this is the machine's clock. SQLite is such a
 * storage: all its processes run on one machine.
 *
 * `now` is corrected only if a reading differs from it by more than the round trip explains. If the correction goes
 * back by up to a second, `now` stays the same until the clock has caught up. If the database's clock is set back
 * further, `now` goes back too. Otherwise this process would take the leases of processes that were started since.
 */
export class DatabaseClock extends Clock {
  private readonly log = new Logger('Messaging');
  private storage: Pick<MessagingStorage, 'serverNow'> | undefined;
  private measuring: Promise<void> | undefined;
  /** The database's time when the machine's `elapsed` was 0; undefined: the machine's clock is used. */
  private base: number | undefined;
  /** The machine's own time when its `elapsed` was 0, according to the last comparison. */
  private machineBase = 0;
  /** The latest time that `now` has returned. */
  private latest = 0;
  /** How far the machine's clock was ahead when the last warning was logged, in milliseconds. */
  private reported = 0;
  private cancel: () => void = () => undefined;

  /** @param machine runs the timers, and gives the time if the storage has no clock */
  constructor(private readonly machine: Clock) {
    super();
  }

  /**
   * Reads a started storage's clock, and again every minute until `stop`. A reading that fails later changes nothing.
   * @throws StorageUnavailableError if the first reading fails
   */
  async follow(storage: Pick<MessagingStorage, 'serverNow'>): Promise<void> {
    this.storage = storage;
    await this.measure();
    if (this.base !== undefined) this.later();
  }

  /** Stops reading the storage's clock. `now` continues with the last correction. */
  stop(): void {
    this.storage = undefined;
    this.cancel();
  }

  override now(): number {
    if (this.base === undefined) return this.machine.now();
    // A jump of the machine's own time means that its clock was set or that the machine was suspended. During a
    // suspension, `elapsed` may not advance.
    if (Math.abs(this.ownBase - this.machineBase) > NOTICED_MS) this.measureAgain();
    this.latest = Math.max(this.latest, Math.floor(this.base + this.machine.elapsed()));
    return this.latest;
  }

  override elapsed(): number {
    return this.machine.elapsed();
  }

  override after(ms: number, task: () => void): () => void {
    return this.machine.after(ms, task);
  }

  private get ownBase(): number {
    return this.machine.now() - this.machine.elapsed();
  }

  private later(): void {
    this.cancel = this.machine.after(EVERY_MS, () => {
      this.measureAgain();
      this.later();
    });
  }

  private measureAgain(): void {
    this.machineBase = this.ownBase;
    this.measuring ??= this.measure()
      .catch(() => undefined)
      .finally(() => {
        this.measuring = undefined;
      });
  }

  private async measure(): Promise<void> {
    let best: Reading | undefined;
    for (let count = 0; count < READINGS; count++) {
      const reading = await this.read();
      if (reading === undefined) return;
      if (best === undefined || reading.error < best.error) best = reading;
    }
    if (best !== undefined) this.correct(best);
  }

  private async read(): Promise<Reading | undefined> {
    const asked = this.machine.elapsed();
    const time = await this.storage?.serverNow();
    if (time === undefined) return undefined;
    const error = (this.machine.elapsed() - asked) / 2;
    return { base: time - asked - error, error };
  }

  private correct({ base, error }: Reading): void {
    this.machineBase = this.ownBase;
    const change = base - (this.base ?? Number.NEGATIVE_INFINITY);
    // The 1 is for rounding: a storage's time is in whole milliseconds.
    if (Math.abs(change) > error + 1) this.base = base;
    if (change < -NOTICED_MS) this.latest = 0;
    this.report();
  }

  private report(): void {
    const ahead = this.machine.now() - this.now();
    const isRight = Math.abs(ahead) <= NOTICED_MS;
    if (isRight ? this.reported === 0 : Math.abs(ahead - this.reported) <= NOTICED_MS) return;
    this.reported = isRight ? 0 : ahead;
    if (isRight) {
      this.log.log("This machine's clock agrees with the database's again.");
      return;
    }
    const seconds = (Math.abs(ahead) / 1000).toFixed(1);
    const side = ahead > 0 ? 'ahead of' : 'behind';
    this.log.warn(
      `This machine's clock is ${seconds} s ${side} the database's, which is used instead: set it right (NTP).`,
    );
  }
}

/** A reading of the storage's clock. */
interface Reading {
  /** The storage's time when the machine's `elapsed` was 0. */
  readonly base: number;
  /** The largest possible error of the reading, in milliseconds: half of the round trip. */
  readonly error: number;
}
