import type { DataSmPdu, DeliverSmPdu } from '../pdu/pdu.js';
import { STATUS } from '../pdu/status.js';
import type { SessionHandlers } from './session-handlers.js';
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
