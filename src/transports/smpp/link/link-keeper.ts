import { Logger } from '@nestjs/common';
import type { Clock } from '../../../common/clock.js';
import { pause } from '../../../common/concurrency/async.js';
import { type FaultLog, faultLog, LogLine } from '../../../common/log.js';
import { BindError } from '../bind/bind-wire.js';
import type { SmppBind } from '../bind/smpp-bind.js';
import { statusCode } from '../command-status.js';
import { STATUS } from '../pdu/command.js';
import type { ReconnectSettings } from '../smpp-settings.js';

/** How long a connection must last, in milliseconds, so that the reconnect delays start from the first one again. */
const STABLE_MS = 30_000;

/**
 * Refusals of a bind that need a change of configuration (SMPP 3.4 section 5.1.3). The exception is "already bound", which may
 * also end by itself when the carrier notices that our previous connection is dead.
 */
const CONFIGURATION_ERRORS: ReadonlyMap<number, string> = new Map([
  [STATUS.alreadyBound, 'already bound'],
  [STATUS.bindFailed, 'bind failed'],
  [STATUS.invalidPassword, 'wrong password'],
  [STATUS.invalidSystemId, 'wrong system id'],
  [STATUS.invalidSystemType, 'wrong system type'],
  [STATUS.invalidCommandId, 'it does not know this kind of bind, see the option bindAs'],
]);

/** Keeps a link connected. When a connection has ended, it opens and binds a new one after a delay. */
export class LinkKeeper {
  private readonly log = new Logger('SmppSmsTransport');
  private readonly faults: FaultLog;
  private readonly stopping = new AbortController();
  private current: LinkBind | undefined;
  private running: Promise<void> = Promise.resolve();
  private failures = 0;
  private changedAt: number;

  /**
   * @param changed called when a connection is bound and when it ends
   * @param refused called with the status by which the carrier refuses a bind, such as `0x0e`
   * @param random in [0, 1)
   */
  constructor(
    private readonly name: string,
    private readonly settings: ReconnectSettings,
    private readonly open: OpenBind,
    private readonly changed: () => void,
    private readonly refused: (code: string) => void,
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {
    this.changedAt = clock.now();
    this.faults = faultLog('SmppSmsTransport', clock);
  }

  /** The current connection, while it is bound. */
  get bind(): LinkBind | undefined {
    return this.current?.open ? this.current : undefined;
  }

  /** When the link was last bound or lost, in milliseconds since the epoch. */
  get since(): number {
    return this.changedAt;
  }

  start(): void {
    this.running = this.run();
  }

  /** Waits for the answers to written submits, then closes the connection. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.current?.close();
    await this.running;
  }

  private get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const delay = await this.runBind();
      if (!this.stopped) await pause(this.clock, delay, this.stopping.signal);
    }
  }

  /** Runs one connection to its end and returns the delay before the next one, in milliseconds. */
  private async runBind(): Promise<number> {
    let bind: LinkBind;
    try {
      bind = await this.open(this.stopping.signal);
    } catch (error) {
      return this.failed(error);
    }
    const boundAt = this.clock.elapsed();
    this.current = bind;
    this.changedAt = this.clock.now();
    // `stop` may have been called while we were binding, when there was nothing to close yet.
    if (this.stopped) await bind.close();
    else this.log.log(new LogLine(`Link ${this.name} is bound.`, { route: this.name }));
    this.changed();
    const { reason, orderly } = await bind.ended;
    this.current = undefined;
    this.changedAt = this.clock.now();
    this.changed();
    if (orderly) this.log.log(new LogLine(`Link ${this.name} is closed: ${reason}.`, { route: this.name }));
    else this.faults.warn(`Link ${this.name} is gone: ${reason}.`, { code: 'link_gone', route: this.name });
    if (this.clock.elapsed() - boundAt >= STABLE_MS) this.failures = 0;
    return reconnectDelay(this.settings, this.failures++, this.random());
  }

  private failed(error: unknown): number {
    if (this.stopped) return 0;
    const status = error instanceof BindError ? error.status : undefined;
    const mistake = status === undefined ? undefined : CONFIGURATION_ERRORS.get(status);
    if (status !== undefined) this.refused(statusCode(status));
    if (status !== undefined && mistake !== undefined) {
      this.faults.error(
        `Link ${this.name}: the carrier refuses the bind, ${mistake} (${statusCode(status)}). Nothing can be sent on it until this is corrected.`,
        { code: statusCode(status), route: this.name },
      );
      return patientDelay(this.settings, this.random());
    }
    const why = error instanceof BindError ? error.message : 'no connection could be bound.';
    this.faults.warn(`Link ${this.name}: ${why}`, { code: 'no_bind', route: this.name });
    return reconnectDelay(this.settings, this.failures++, this.random());
  }
}

/**
 * Returns the delay before connecting again, in milliseconds: between 0 and a ceiling that doubles with each failure. The jitter
 * covers the whole range, so that links that failed together do not reconnect together.
 *
 * @param failures the number of consecutive failures before this delay, from 0
 * @param random in [0, 1)
 */
export function reconnectDelay({ firstMs, maxMs }: ReconnectSettings, failures: number, random: number): number {
  return Math.round(random * Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30)));
}

/**
 * Returns the delay after a refusal that needs a change of configuration, in milliseconds. It is in the upper half of the longest
 * delay.
 */
export function patientDelay({ maxMs }: ReconnectSettings, random: number): number {
  return Math.round((maxMs / 2) * (1 + random));
}

/** The part of a bound connection that a link uses. */
export type LinkBind = Pick<SmppBind, 'open' | 'submit' | 'ended' | 'close'>;

/**
 * Connects and binds.
 * @throws BindError if that fails, or if `signal` is aborted
 */
export type OpenBind = (signal: AbortSignal) => Promise<LinkBind>;
