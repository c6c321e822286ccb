import type { Clock } from '../../../common/clock.js';
import { statusCode, statusRule } from '../command-status.js';
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

/** One bound SMPP 3.4 connection. To reconnect after its end, open a new one. */
export class SmppSession {
  /** Resolves when the session is over and every submit is settled. Never rejects. */
  readonly ended: Promise<SessionEnd>;

  /** The state only moves to the right. */
  private state: 'bound' | 'closing' | 'unbinding' | 'over' = 'bound';
  private settleEnded: (end: SessionEnd) => void = () => {};
  private unbindSequence: number | undefined;
  private probeSequence: number | undefined;
  private cancelDeadline = () => {};
  private readonly sequences = new SequenceNumbers(BIND_SEQUENCE);
  private readonly window: SendWindow;
  private readonly liveness: SessionLiveness;
  private readonly deliveries: SessionDeliveries;

  /**
   * Connects and binds.
   * @throws SessionBindError also when `signal` is aborted first
   */
  static open(
    settings: SmppSessionSettings,
    handlers: SessionHandlers,
    clock: Clock,
    signal?: AbortSignal,
  ): Promise<SmppSession> {
    return new Promise((resolve, reject) => {
      const abort = () => opening.lost('given up while it was under way');
      const opening = new SessionOpening(settings, clock, {
        bound: (wire, systemId) => {
          signal?.removeEventListener('abort', abort);
          resolve(new SmppSession(wire, systemId, settings, handlers, clock));
        },
        failed: (error) => {
          signal?.removeEventListener('abort', abort);
          reject(error);
        },
      });
      signal?.addEventListener('abort', abort);
      if (signal?.aborted) abort();
    });
  }

  private constructor(
    private readonly wire: SessionWire,
    /** The SMSC's system_id in its answer to the bind. */
    readonly peerSystemId: string,
    private readonly settings: SmppSessionSettings,
    private readonly handlers: SessionHandlers,
    private readonly clock: Clock,
  ) {
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve;
    });
    const unbindWhenQuiet = () => this.unbindWhenQuiet();
    this.liveness = new SessionLiveness(settings, clock, {
      probe: () => this.probe(),
      alive: () => this.window.admit(),
      dead: () => this.destroy('the SMSC is silent'),
    });
    this.window = new SendWindow(settings, clock, wire, this.sequences, this.liveness, unbindWhenQuiet);
    this.deliveries = new SessionDeliveries(settings.maxUnanswered, handlers, wire, unbindWhenQuiet);
    const inbound = new SessionInbound(wire, this.window, this.deliveries, {
      unbound: () => this.finish({ reason: 'the SMSC unbound', orderly: true }),
      unbindAnswered: (sequence) => this.unbindAnswered(sequence),
      probeAnswered: (sequence, status) => this.probeAnswered(sequence, status),
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

  /** True until the session ends or `close` is called. */
  get open(): boolean {
    return this.state === 'bound';
  }

  /** The number of written and unanswered submits; at most the window. */
  get outstanding(): number {
    return this.window.outstanding;
  }

  /** The number of submits that wait for capacity in the window. */
  get waiting(): number {
    return this.window.queued;
  }

  /**
   * Sends one submit_sm as soon as the window has capacity, in the order of the calls. Never rejects; on a session that is
   * not open the outcome is `not-sent`. The caller limits the number of waiting submits.
   */
  submit(message: ShortMessage): Promise<SubmitOutcome> {
    return this.window.submit(message);
  }

  /**
   * Closes the session in order: waiting submits become `not-sent`, written ones may be answered until the response
   * timeout, incoming messages are answered, and then the session unbinds. Resolves as `ended`, after at most two
   * response timeouts.
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

  /** Ends the session at once. */
  destroy(reason: string): void {
    this.finish({ reason, orderly: false });
  }

  private unbindWhenQuiet(): void {
    if (this.state === 'closing' && this.outstanding === 0 && this.deliveries.unanswered === 0) this.unbind();
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

  private probe(): void {
    this.probeSequence = this.nextSequence();
    this.wire.send({ command: 'enquire_link', status: STATUS.ok, sequence: this.probeSequence });
  }

  /**
   * Any answer is a sign of life, also that enquire_link is not known (0x03). One that says that the session is not
   * bound ends it, because it would say so to every submit.
   */
  private probeAnswered(sequence: number, status: number): boolean {
    if (sequence !== this.probeSequence) return false;
    const isLost = status !== STATUS.ok && statusRule(status).about === 'session' && status !== STATUS.invalidCommandId;
    if (isLost && this.open) {
      this.handlers.fault?.(`the SMSC answers ${statusCode(status)} to an enquire_link, so it binds again`);
      void this.close();
    }
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

/** The end of a session. */
interface SessionEnd {
  /** For logs, without secrets, texts and numbers. */
  readonly reason: string;
  /** True: we closed the session, or the SMSC unbound. */
  readonly orderly: boolean;
}
