import type { Clock } from '../../common/clock.js';
import type { ShortMessage } from './pdu/pdu.js';
import type { SessionHandlers } from './session-handlers.js';
import type { SmppSessionSettings } from './session-settings.js';
import type { SubmitOutcome } from './submit-outcome.js';

/** How a session ended. */
export interface SessionEnd {
  /** For logs: no secrets, texts or numbers. */
  readonly reason: string;
  /** true: we closed it, or the SMSC unbound in good order. */
  readonly orderly: boolean;
}

/** One bound SMPP 3.4 connection. It is used up when it ends: reconnect with a new one. */
export class SmppSession {
  /** Connects and binds. @throws SessionBindError also when `signal` fires */
  static open(
    _settings: SmppSessionSettings,
    _handlers: SessionHandlers,
    _clock: Clock,
    _signal?: AbortSignal,
  ): Promise<SmppSession> {
    return Promise.reject(new Error('being written'));
  }

  /** Resolves when the session is over, every submit is settled and the connection is given up. Never rejects. */
  readonly ended: Promise<SessionEnd> = new Promise(() => {});

  /** The SMSC's system_id, as it gave it in its answer to the bind. */
  readonly peerSystemId: string = '';

  /** true until it ends or `close` is called. */
  get open(): boolean {
    return false;
  }

  /** Submits written and not answered yet: at most the window. */
  get outstanding(): number {
    return 0;
  }

  /** Submits that wait for a place in the window. */
  get waiting(): number {
    return 0;
  }

  /**
   * Sends one submit_sm as soon as the window has room, in the order of the calls. Never rejects; on a session that is not
   * open the outcome is `not-sent`. How many wait at a time is the caller's to bound.
   */
  submit(_message: ShortMessage): Promise<SubmitOutcome> {
    return Promise.reject(new Error('being written'));
  }

  /**
   * Ends in good order: what waits is `not-sent`, what is written gets its time to be answered, then unbind. Resolves like
   * `ended`; takes at most two response times.
   */
  close(): Promise<SessionEnd> {
    return this.ended;
  }

  /** Ends at once. */
  destroy(_reason: string): void {}
}
