import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';

/** The properties that a background worker declares when it starts. */
interface WorkerKind {
  /** The longest regular time from one round to the next, in milliseconds. */
  readonly everyMs: number;
  /** True: it only removes what has expired, so no caller waits for it. Default false. */
  readonly isUpkeep?: boolean;
}

/** When a background worker of this process last did its work. */
interface WorkerRounds extends Required<WorkerKind> {
  /**
   * The name of the worker, one of a few constants. It names a channel (`deliver sms`) or the work (`purge replies`,
   * `webhooks`).
   */
  readonly worker: string;
  /** When its last successful round ended, in milliseconds since the epoch; undefined before the first. */
  readonly lastRound: number | undefined;
  /**
   * The time since that round, or since the worker's start, in milliseconds. It does not depend on changes of the
   * machine's clock.
   */
  readonly ageMs: number;
}

/** The functions by which a worker reports its rounds. */
export interface RoundReport {
  /** A round, or a part of a long one, has succeeded. */
  ended(): void;
  /** The worker stops: no further round is expected of it. */
  stopped(): void;
}

interface Entry extends Required<WorkerKind> {
  lastRound: number | undefined;
  /** When the last round ended, or the worker started, by the clock's `elapsed`. */
  at: number;
}

/** The background workers that run in this process, and when each last did its work. Health and metrics read it. */
@Injectable()
export class Rounds {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly clock: Clock) {}

  /** Records that a worker starts. It replaces an earlier worker of the same name. */
  start(worker: string, { everyMs, isUpkeep = false }: WorkerKind): RoundReport {
    const entry: Entry = { everyMs, isUpkeep, lastRound: undefined, at: this.clock.elapsed() };
    this.entries.set(worker, entry);
    return {
      ended: () => {
        entry.lastRound = this.clock.now();
        entry.at = this.clock.elapsed();
      },
      stopped: () => {
        if (this.entries.get(worker) === entry) this.entries.delete(worker);
      },
    };
  }

  /** All workers that run now, in the order of their start. */
  all(): readonly WorkerRounds[] {
    const elapsed = this.clock.elapsed();
    return [...this.entries].map(([worker, { at, ...entry }]) => ({ worker, ...entry, ageMs: elapsed - at }));
  }
}
