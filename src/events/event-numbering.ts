import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { type RoundReport, Rounds } from '../common/concurrency/rounds.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../common/log.js';
import { Notifier, publishNotice } from '../common/notifier.js';
import { EventLog } from './event-log.js';

/** The time between two searches for marks that another process has left, in milliseconds. */
const POLL_MS = 1000;

/** The least time between two notices about an account, in milliseconds. */
const NOTICE_MS = 20;

/** The maximum number of marks in one transaction. It locks the counters of their accounts. */
const AT_ONCE = 500;

/**
 * Gives numbers to marks, and notifies the other processes of accounts with new events. It runs in each process,
 * whatever its role. A process numbers its own marks at once, and those of a process that has ended within a second.
 */
@Injectable()
export class EventNumbering implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger: FaultLog;
  private readonly toNotify = new Set<string>();
  private cancelNotice: (() => void) | undefined;
  private cancelPoll: () => void = () => undefined;
  private report: RoundReport | undefined;
  private unlisten: () => void = () => undefined;
  private numbering: Promise<void> | undefined;
  /** Whether there are marks that the running call may not have seen. */
  private again = false;
  private failed = false;
  private stopped = false;

  constructor(
    private readonly log: EventLog,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly rounds: Rounds,
  ) {
    this.logger = faultLog('Events', clock);
  }

  onApplicationBootstrap(): void {
    this.unlisten = this.log.listen(({ accounts, marks }) => {
      for (const account of accounts) this.toNotify.add(account);
      if (accounts.length > 0) this.cancelNotice ??= this.clock.after(NOTICE_MS, () => this.publish());
      if (marks) this.number();
    });
    this.report = this.rounds.start('number events', { everyMs: POLL_MS });
    this.poll();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    this.report?.stopped();
    this.unlisten();
    this.cancelPoll();
    await this.numbering;
    this.cancelNotice?.();
    this.publish();
  }

  private poll(): void {
    this.number();
    this.cancelPoll = this.clock.after(POLL_MS, () => this.poll());
  }

  private number(): void {
    this.again = true;
    if (this.stopped) return;
    this.numbering ??= this.numberAll().finally(() => {
      this.numbering = undefined;
    });
  }

  /** Numbers all marks. If it fails, the next search repeats it. */
  private async numberAll(): Promise<void> {
    try {
      while (this.again && !this.stopped) {
        this.again = false;
        if ((await this.log.numberMarks(AT_ONCE)) >= AT_ONCE) this.again = true;
      }
      this.failed = false;
      this.report?.ended();
    } catch (error) {
      if (!this.failed && !this.stopped) {
        this.logger.warn(`Marks of events could not be numbered: ${nameOf(error)}.`, { code: faultCode(error) });
      }
      this.failed = true;
    }
  }

  private publish(): void {
    this.cancelNotice = undefined;
    for (const account of this.toNotify) publishNotice(this.notifier, 'event', account);
    this.toNotify.clear();
  }
}
