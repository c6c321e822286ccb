import { Logger } from '@nestjs/common';
import { pause } from '../../../common/async.js';
import type { Clock } from '../../../common/clock.js';
import { STATUS } from '../pdu/command.js';
import { SessionBindError } from '../session/session-wire.js';
import type { SmppSession } from '../session/smpp-session.js';
import type { ReconnectSettings } from '../smpp-settings.js';
import { statusCode } from '../status-class.js';

/** A session that lasted so long was a good one: the waits start from the first again. */
const HELD_MS = 30_000;

/** Refusals of a bind that only somebody's hand can cure, or the carrier when it notices that our old link is dead. */
const CONFIGURATION: ReadonlyMap<number, string> = new Map([
  [STATUS.alreadyBound, 'already bound'],
  [STATUS.bindFailed, 'bind failed'],
  [STATUS.invalidPassword, 'wrong password'],
  [STATUS.invalidSystemId, 'wrong system id'],
]);

/** Keeps a link up: a new session whenever the last one is over, after a wait. */
export class LinkKeeper {
  private readonly log = new Logger('SmppSmsTransport');
  private readonly stopping = new AbortController();
  private current: LinkSession | undefined;
  private running: Promise<void> = Promise.resolve();
  private failures = 0;

  /** @param random in [0, 1) */
  constructor(
    private readonly name: string,
    private readonly settings: ReconnectSettings,
    private readonly open: OpenSession,
    private readonly changed: () => void,
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  /** The session, while it is bound. */
  get session(): LinkSession | undefined {
    return this.current?.open ? this.current : undefined;
  }

  start(): void {
    this.running = this.run();
  }

  /** Ends the session in good order: what is on the wire gets its time to be answered. */
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
      const delay = await this.hold();
      if (!this.stopped) await pause(this.clock, delay, this.stopping.signal);
    }
  }

  /** One session from its beginning to its end; answers how long to wait before the next. */
  private async hold(): Promise<number> {
    let session: LinkSession;
    try {
      session = await this.open(this.stopping.signal);
    } catch (error) {
      return this.failed(error);
    }
    const boundAt = this.clock.elapsed();
    this.current = session;
    // `stop` may have come while the bind was under way, and found no session to close.
    if (this.stopped) await session.close();
    else this.log.log(`Link ${this.name} is bound.`);
    this.changed();
    const { reason, orderly } = await session.ended;
    this.current = undefined;
    this.changed();
    if (orderly) this.log.log(`Link ${this.name} is closed: ${reason}.`);
    else this.log.warn(`Link ${this.name} is gone: ${reason}.`);
    if (this.clock.elapsed() - boundAt >= HELD_MS) this.failures = 0;
    return reconnectDelay(this.settings, this.failures++, this.random());
  }

  private failed(error: unknown): number {
    if (this.stopped) return 0;
    const status = error instanceof SessionBindError ? error.status : undefined;
    const mistake = status === undefined ? undefined : CONFIGURATION.get(status);
    if (status !== undefined && mistake !== undefined) {
      this.log.error(
        `Link ${this.name}: the carrier refuses the bind, ${mistake} (${statusCode(status)}). Nothing can be sent on it until that is put right.`,
      );
      return patientDelay(this.settings, this.random());
    }
    this.log.warn(`Link ${this.name}: ${error instanceof SessionBindError ? error.message : 'no session came about.'}`);
    return reconnectDelay(this.settings, this.failures++, this.random());
  }
}

/**
 * How long to wait before connecting again, in milliseconds: anything from 0 to a ceiling that doubles with each failure
 * (full jitter, so that links that fell together do not come back together).
 *
 * @param failures how many in a row before this wait, from 0
 * @param random in [0, 1)
 */
export function reconnectDelay({ firstMs, longestMs }: ReconnectSettings, failures: number, random: number): number {
  return Math.round(random * Math.min(longestMs, firstMs * 2 ** Math.min(failures, 30)));
}

/** After a refusal that only a change of configuration can cure: always in the upper half of the longest wait. */
export function patientDelay({ longestMs }: ReconnectSettings, random: number): number {
  return Math.round((longestMs / 2) * (1 + random));
}

/** What a link needs of a session. */
export type LinkSession = Pick<SmppSession, 'open' | 'submit' | 'ended' | 'close'>;

/** Connects and binds. @throws SessionBindError also when `signal` fires */
export type OpenSession = (signal: AbortSignal) => Promise<LinkSession>;
