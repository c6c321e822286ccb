import { STATUS } from '../pdu/command.js';
import type { DataSmPdu, DeliverSmPdu } from '../pdu/pdu.js';
import type { BindWire } from './bind-wire.js';

/** Passes incoming messages to the handler and answers each after the handler is done. */
export class BindDeliveries {
  private handling = 0;

  /**
   * @param max the maximum number of unanswered messages. Above it, messages are refused for now
   * @param idle called when no message is unanswered
   */
  constructor(
    private readonly max: number,
    private readonly handlers: BindHandlers,
    private readonly wire: BindWire,
    private readonly idle: () => void,
  ) {}

  /** The number of messages that the handler works on. */
  get unanswered(): number {
    return this.handling;
  }

  take(message: DeliverSmPdu | DataSmPdu): void {
    if (this.handling >= this.max) this.answer(message, STATUS.receiverTemporaryError);
    else void this.handle(message);
  }

  /** Handles a message. Never rejects. If the handler fails, the answer asks the SMSC to repeat the message. */
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

/** The handlers of a connection's incoming messages. */
export interface BindHandlers {
  /**
   * Handles a receipt or an inbound text. If this resolves, the answer is "ok". If it rejects or throws, the answer is "temporary
   * error" (0x64). Calls follow the order of arrival and do not wait for each other.
   */
  deliver(message: DeliverSmPdu | DataSmPdu): Promise<void>;

  /** Called for each violation of the protocol that does not end the connection. `what` has no content, numbers or secrets. */
  fault?(what: string): void;
}
