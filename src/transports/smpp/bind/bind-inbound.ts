import { commandIdOf, STATUS } from '../pdu/command.js';
import type { MalformedPdu } from '../pdu/frame-reader.js';
import type { Pdu } from '../pdu/pdu.js';
import type { BindDeliveries } from './bind-deliveries.js';
import { type BindWire, refusalOf } from './bind-wire.js';
import type { SendWindow } from './send-window.js';
import type { SubmitAnswer } from './submit-outcome.js';

/** The effects of incoming PDUs on the state of a connection. */
interface BindControl {
  /** Called after an unbind of the SMSC was answered. */
  unbound(): void;
  /** Called for an answer that may belong to our unbind. False if it has another sequence number. */
  unbindAnswered(sequence: number): boolean;
  /** Called for an answer that may belong to our last enquire_link. False if it has another sequence number. */
  probeAnswered(sequence: number, status: number): boolean;
  fault(what: string): void;
}

/** Dispatches the PDUs that arrive on a bound connection. */
export class BindInbound {
  constructor(
    private readonly wire: BindWire,
    private readonly window: SendWindow,
    private readonly deliveries: BindDeliveries,
    private readonly control: BindControl,
  ) {}

  receive(pdu: Pdu): void {
    const { sequence, status } = pdu;
    switch (pdu.command) {
      case 'submit_sm_resp':
        this.answered(sequence, { status, messageId: pdu.messageId, tlvs: pdu.tlvs });
        break;
      case 'generic_nack':
        // A nack with status "ok" must not count as accepted.
        this.answered(sequence, { status: status || STATUS.unknownError, messageId: '', tlvs: [] });
        break;
      case 'deliver_sm':
      case 'data_sm':
        this.deliveries.take(pdu);
        break;
      case 'enquire_link':
        this.wire.send({ command: 'enquire_link_resp', status: STATUS.ok, sequence });
        break;
      case 'enquire_link_resp':
        this.control.probeAnswered(sequence, status);
        break;
      case 'unbind':
        this.wire.send({ command: 'unbind_resp', status: STATUS.ok, sequence });
        this.control.unbound();
        break;
      case 'unbind_resp':
        if (!this.control.unbindAnswered(sequence)) this.control.fault(UNEXPECTED_ANSWER);
        break;
      default:
        this.control.fault('a command that is not for us');
        this.refuse(commandIdOf(pdu), sequence, STATUS.invalidCommandId);
    }
  }

  malformed({ message, header, answer }: MalformedPdu): void {
    this.control.fault(`a PDU that cannot be read: ${message}`);
    this.refuse(header.commandId, header.sequence, answer);
  }

  private answered(sequence: number, answer: SubmitAnswer): void {
    if (this.window.answer(sequence, answer)) return;
    if (this.control.unbindAnswered(sequence)) return;
    if (!this.control.probeAnswered(sequence, answer.status)) this.control.fault(UNEXPECTED_ANSWER);
  }

  private refuse(commandId: number, sequence: number, status: number): void {
    const refusal = refusalOf(commandId, sequence, status);
    if (refusal !== undefined) this.wire.send(refusal);
  }
}

const UNEXPECTED_ANSWER = 'an answer without a request';
