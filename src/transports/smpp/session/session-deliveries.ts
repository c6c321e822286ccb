import { STATUS } from '../pdu/command.js';
import type { DataSmPdu, DeliverSmPdu } from '../pdu/pdu.js';
import type { SessionWire } from './session-wire.js';

/** Hands what comes in to its handler and answers when that is through. */
export class SessionDeliveries {
  private handling = 0;

  /**
   * @param most how many the handler may have in hand; more are put off
   * @param idle called when the last one in hand is answered
   */
  constructor(
    private readonly most: number,
    private readonly handlers: SessionHandlers,
    private readonly wire: SessionWire,
    private readonly idle: () => void,
  ) {}

  /** How many the handler has, unanswered. */
  get inHand(): number {
    return this.handling;
  }

  take(message: DeliverSmPdu | DataSmPdu): void {
    if (this.handling >= this.most) this.answer(message, STATUS.receiverTemporaryError);
    else void this.handle(message);
  }

  /** Never rejects: what the handler could not take, the SMSC is to bring again. */
  private async handle(message: DeliverSmPdu | DataSmPdu): Promise<void> {
    this.handling++;
    let status: number = STATUS.ok;
    try {
      await this.handlers.deliver(message);
    } catch {
      status = STATUS.receiverTemporaryError;
    }
    this.handling--;
    this.answer(message, status);
    if (this.handling === 0) this.idle();
  }

  private answer({ command, sequence }: DeliverSmPdu | DataSmPdu, status: number): void {
    this.wire.send({ command: `${command}_resp`, status, sequence, messageId: '', tlvs: [] });
  }
}

/** Who a session tells what comes in. */
export interface SessionHandlers {
  /**
   * Takes a receipt or an inbound text. The SMSC gets its "ok" once this resolves, "temporary error" (0x64) when it
   * rejects or throws. Called in the order of arrival, without waiting for the one before.
   */
  deliver(message: DeliverSmPdu | DataSmPdu): Promise<void>;

  /** Told of each thing the peer did against the protocol that the session lived through; no content, numbers or secrets in it. */
  fault?(what: string): void;
}
