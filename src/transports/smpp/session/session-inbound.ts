import { commandIdOf, STATUS } from '../pdu/command.js';
import type { MalformedPdu } from '../pdu/frame-reader.js';
import type { Pdu } from '../pdu/pdu.js';
import type { SendWindow } from './send-window.js';
import type { SessionDeliveries } from './session-deliveries.js';
import { refusalOf, type SessionWire } from './session-wire.js';
import type { SubmitAnswer } from './submit-outcome.js';

/** What comes in that changes where a session stands. */
export interface SessionCourse {
  /** The SMSC has unbound, and has its answer. */
  unbound(): void;
  /** Our unbind is answered. @returns false when there is none of this number */
  unbindAnswered(sequence: number): boolean;
  fault(what: string): void;
}

/** Sees to each PDU that comes in on a bound session. */
export class SessionInbound {
  constructor(
    private readonly wire: SessionWire,
    private readonly window: SendWindow,
    private readonly deliveries: SessionDeliveries,
    private readonly course: SessionCourse,
  ) {}

  receive(pdu: Pdu): void {
    const { sequence, status } = pdu;
    switch (pdu.command) {
      case 'submit_sm_resp':
        this.answered(sequence, { status, messageId: pdu.messageId, tlvs: pdu.tlvs });
        break;
      case 'generic_nack':
        // The SMSC could not read something of ours. A nack that says "ok" must not pass for "taken".
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
        break;
      case 'unbind':
        this.wire.send({ command: 'unbind_resp', status: STATUS.ok, sequence });
        this.course.unbound();
        break;
      case 'unbind_resp':
        if (!this.course.unbindAnswered(sequence)) this.course.fault(UNASKED);
        break;
      default:
        this.course.fault('a command that is not for us');
        this.refuse(commandIdOf(pdu), sequence, STATUS.invalidCommandId);
    }
  }

  malformed({ message, header, answer }: MalformedPdu): void {
    this.course.fault(`a PDU that cannot be read: ${message}`);
    this.refuse(header.commandId, header.sequence, answer);
  }

  private answered(sequence: number, answer: SubmitAnswer): void {
    if (this.window.answer(sequence, answer)) return;
    if (!this.course.unbindAnswered(sequence)) this.course.fault(UNASKED);
  }

  private refuse(commandId: number, sequence: number, status: number): void {
    const refusal = refusalOf(commandId, sequence, status);
    if (refusal !== undefined) this.wire.send(refusal);
  }
}

const UNASKED = 'an answer to nothing that was asked';
