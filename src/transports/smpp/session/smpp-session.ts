import type { Clock } from '../../../common/clock.js';
import { STATUS } from '../pdu/command.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { SendWindow, SequenceNumbers } from './send-window.js';
import { SessionDeliveries, type SessionHandlers } from './session-deliveries.js';
import { SessionInbound } from './session-inbound.js';
import { SessionLiveness } from './session-liveness.js';
import { BIND_SEQUENCE, SessionOpening } from './session-opening.js';
import type { SmppSessionSettings } from './session-settings.js';
import type { SessionWire } from './session-wire.js';
import type { SubmitOutcome } from './submit-outcome.js';

/** One bound SMPP 3.4 connection. It is used up when it ends: reconnect with a new one. */
export class SmppSession {
  /** Resolves when the session is over and every submit is settled. Never rejects. */
  readonly ended: Promise<SessionEnd>;

  /** It only ever moves to the right. */
  private state: 'bound' | 'closing' | 'unbinding' | 'over' = 'bound';
  private settleEnded: (end: SessionEnd) => void = () => {};
  private unbindSequence: number | undefined;
  private cancelDeadline = () => {};
  private readonly sequences = new SequenceNumbers(BIND_SEQUENCE);
  private readonly window: SendWindow;
  private readonly liveness: SessionLiveness;
  private readonly deliveries: SessionDeliveries;

  /** Connects and binds. @throws SessionBindError also when `signal` fires first */
  static open(
    settings: SmppSessionSettings,
    handlers: SessionHandlers,
    clock: Clock,
    signal?: AbortSignal,
  ): Promise<SmppSession> {
    return new Promise((resolve, reject) => {
      const giveUp = () => opening.lost('given up while it was under way');
      const opening = new SessionOpening(settings, clock, {
        bound: (wire, systemId) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(new SmppSession(wire, systemId, settings, handlers, clock));
        },
        failed: (error) => {
          signal?.removeEventListener('abort', giveUp);
          reject(error);
        },
      });
      signal?.addEventListener('abort', giveUp);
      if (signal?.aborted) giveUp();
    });
  }

  private constructor(
    private readonly wire: SessionWire,
    /** The SMSC's system_id, as it gave it in its answer to the bind. */
    readonly peerSystemId: string,
    private readonly settings: SmppSessionSettings,
    handlers: SessionHandlers,
    private readonly clock: Clock,
  ) {
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve;
    });
    const unbindWhenQuiet = () => this.unbindWhenQuiet();
    this.liveness = new SessionLiveness(settings, clock, {
      probe: () => wire.send({ command: 'enquire_link', status: STATUS.ok, sequence: this.nextSequence() }),
      alive: () => this.window.admit(),
      dead: () => this.destroy('the SMSC is silent'),
    });
    this.window = new SendWindow(settings, clock, wire, this.sequences, this.liveness, unbindWhenQuiet);
    this.deliveries = new SessionDeliveries(settings.maxUnanswered, handlers, wire, unbindWhenQuiet);
    const inbound = new SessionInbound(wire, this.window, this.deliveries, {
      unbound: () => this.finish({ reason: 'the SMSC unbound', orderly: true }),
      unbindAnswered: (sequence) => this.unbindAnswered(sequence),
      fault: (what) => handlers.fault?.(what),
    });
    wire.listen({
      pdu: (pdu) => {
        this.liveness.heard();
        inbound.receive(pdu);
      },
      malformed: (error) => {
        this.liveness.heard();
        inbound.malformed(error);
      },
      drained: () => this.window.admit(),
      lost: (reason) => this.destroy(reason),
    });
    this.liveness.start();
  }

  /** true until it ends or `close` is called. */
  get open(): boolean {
    return this.state === 'bound';
  }

  /** Submits written and not answered yet: at most the window. */
  get outstanding(): number {
    return this.window.outstanding;
  }

  /** Submits that wait for a place in the window. */
  get waiting(): number {
    return this.window.inLine;
  }

  /**
   * Sends one submit_sm as soon as the window has room, in the order of the calls. Never rejects; on a session that is not
   * open the outcome is `not-sent`. How many wait at a time is the caller's to bound.
   */
  submit(message: ShortMessage): Promise<SubmitOutcome> {
    return this.window.submit(message);
  }

  /**
   * Ends in good order: what waits is `not-sent`, what is written gets its time to be answered, what was delivered is
   * answered, then unbind. Resolves like `ended`; takes at most two response times.
   */
  close(): Promise<SessionEnd> {
    if (this.state === 'bound') {
      this.state = 'closing';
      this.window.stop('the session is closing');
      this.deadline(() => this.unbind());
      this.unbindWhenQuiet();
    }
    return this.ended;
  }

  /** Ends at once. */
  destroy(reason: string): void {
    this.finish({ reason, orderly: false });
  }

  private unbindWhenQuiet(): void {
    if (this.state === 'closing' && this.outstanding === 0 && this.deliveries.inHand === 0) this.unbind();
  }

  private unbind(): void {
    this.state = 'unbinding';
    this.unbindSequence = this.nextSequence();
    this.wire.send({ command: 'unbind', status: STATUS.ok, sequence: this.unbindSequence });
    this.deadline(() => this.finish({ reason: 'closed, though the SMSC did not answer the unbind', orderly: true }));
  }

  private unbindAnswered(sequence: number): boolean {
    if (sequence !== this.unbindSequence) return false;
    this.finish({ reason: 'closed', orderly: true });
    return true;
  }

  private finish(end: SessionEnd): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.cancelDeadline();
    this.liveness.stop();
    if (end.orderly) this.wire.end();
    else this.wire.destroy();
    this.window.end(end.reason);
    this.settleEnded(end);
  }

  private deadline(task: () => void): void {
    this.cancelDeadline();
    this.cancelDeadline = this.clock.after(this.settings.responseTimeoutMs, task);
  }

  private nextSequence(): number {
    return this.sequences.next((sequence) => this.window.isTaken(sequence));
  }
}

/** How a session ended. */
interface SessionEnd {
  /** For logs: no secrets, texts or numbers. */
  readonly reason: string;
  /** true: we closed it, or the SMSC unbound in good order. */
  readonly orderly: boolean;
}
