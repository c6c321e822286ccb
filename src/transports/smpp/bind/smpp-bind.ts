import type { Clock } from '../../../common/clock.js';
import { statusCode, statusRule } from '../command-status.js';
import { STATUS } from '../pdu/command.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { BindDeliveries, type BindHandlers } from './bind-deliveries.js';
import { BindInbound } from './bind-inbound.js';
import { BindLiveness } from './bind-liveness.js';
import { BIND_SEQUENCE, BindOpening } from './bind-opening.js';
import type { SmppBindSettings } from './bind-settings.js';
import type { BindWire } from './bind-wire.js';
import { SendWindow, SequenceNumbers } from './send-window.js';
import type { SubmitOutcome } from './submit-outcome.js';

/** One bound SMPP 3.4 connection. To reconnect after its end, open a new one. */
export class SmppBind {
  /** Resolves when the connection is over and every submit is settled. Never rejects. */
  readonly ended: Promise<BindEnd>;

  /** The state only moves to the right. */
  private state: 'bound' | 'closing' | 'unbinding' | 'over' = 'bound';
  private settleEnded: (end: BindEnd) => void = () => {};
  private unbindSequence: number | undefined;
  private probeSequence: number | undefined;
  private cancelDeadline = () => {};
  private readonly sequences = new SequenceNumbers(BIND_SEQUENCE);
  private readonly window: SendWindow;
  private readonly liveness: BindLiveness;
  private readonly deliveries: BindDeliveries;

  /**
   * Connects and binds.
   * @throws BindError if that fails, or if `signal` is aborted first
   */
  static open(
    settings: SmppBindSettings,
    handlers: BindHandlers,
    clock: Clock,
    signal?: AbortSignal,
  ): Promise<SmppBind> {
    return new Promise((resolve, reject) => {
      const abort = () => opening.lost('given up while it was connecting');
      const opening = new BindOpening(settings, clock, {
        bound: (wire, systemId) => {
          signal?.removeEventListener('abort', abort);
          resolve(new SmppBind(wire, systemId, settings, handlers, clock));
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
    private readonly wire: BindWire,
    /** The SMSC's system_id in its answer to the bind. */
    readonly peerSystemId: string,
    private readonly settings: SmppBindSettings,
    private readonly handlers: BindHandlers,
    private readonly clock: Clock,
  ) {
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve;
    });
    const unbindWhenQuiet = () => this.unbindWhenQuiet();
    this.liveness = new BindLiveness(settings, clock, {
      probe: () => this.probe(),
      alive: () => this.window.admit(),
      dead: () => this.destroy('the SMSC is silent'),
    });
    this.window = new SendWindow(settings, clock, wire, this.sequences, this.liveness, unbindWhenQuiet);
    this.deliveries = new BindDeliveries(settings.maxUnanswered, handlers, wire, unbindWhenQuiet);
    const inbound = new BindInbound(wire, this.window, this.deliveries, {
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

  /** True until the connection ends or `close` is called. */
  get open(): boolean {
    return this.state === 'bound';
  }

  /** The number of written and unanswered submits. It is at most the window. */
  get outstanding(): number {
    return this.window.outstanding;
  }

  /** The number of submits that wait because the window is full. */
  get waiting(): number {
    return this.window.queued;
  }

  /**
   * Sends one submit_sm as soon as the window allows it, in the order of the calls. Never rejects: if the connection is not
   * open, the outcome is `not-sent`. The caller limits the number of waiting submits.
   */
  submit(message: ShortMessage): Promise<SubmitOutcome> {
    return this.window.submit(message);
  }

  /**
   * Closes the connection properly. Waiting submits become `not-sent`. Written submits may still be answered until the response
   * timeout, and incoming messages are answered. Then we unbind. Resolves when `ended` resolves, after at most two response
   * timeouts.
   */
  close(): Promise<BindEnd> {
    if (this.state === 'bound') {
      this.state = 'closing';
      this.window.stop('the bind is closing');
      this.deadline(() => this.unbind());
      this.unbindWhenQuiet();
    }
    return this.ended;
  }

  /** Ends the connection at once. */
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
    this.deadline(() => this.finish({ reason: 'closed, although the SMSC did not answer the unbind', orderly: true }));
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
   * Any answer is a sign of life, even one that says that enquire_link is not known (0x03). If an answer says that we are not
   * bound, the connection ends, because the SMSC would refuse every submit for the same reason.
   */
  private probeAnswered(sequence: number, status: number): boolean {
    if (sequence !== this.probeSequence) return false;
    const isLost = status !== STATUS.ok && statusRule(status).about === 'bind' && status !== STATUS.invalidCommandId;
    if (isLost && this.open) {
      this.handlers.fault?.(`the SMSC answers ${statusCode(status)} to an enquire_link, so it binds again`);
      void this.close();
    }
    return true;
  }

  private finish(end: BindEnd): void {
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

/** How a connection ended. */
interface BindEnd {
  /** For logs, without secrets, texts and numbers. */
  readonly reason: string;
  /** True: we closed the connection, or the SMSC unbound. */
  readonly orderly: boolean;
}
