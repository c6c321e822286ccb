import type { Clock } from '../../../common/clock.js';
import { commandIdOf, STATUS } from '../pdu/command.js';
import type { MalformedPdu } from '../pdu/frame-reader.js';
import type { Pdu } from '../pdu/pdu.js';
import type { SmppBindSettings } from './bind-settings.js';
import { BindError, BindWire, refusalOf, type WireListener } from './bind-wire.js';

const SMPP_3_4 = 0x34;

/** The sequence number of the bind, which is the first request of its connection. */
export const BIND_SEQUENCE = 1;

/** The result of connecting and binding. One of the two methods is called once. */
interface OpeningResult {
  /** Takes over the wire. Set a listener before you return. */
  bound(wire: BindWire, systemId: string): void;
  failed(error: BindError): void;
}

/** Connects and binds. */
export class BindOpening implements WireListener {
  private readonly wire: BindWire;
  private readonly cancelDeadline: () => void;
  private over = false;

  /** @throws BindError if a certificate or key of the settings cannot be read */
  constructor(
    private readonly settings: SmppBindSettings,
    clock: Clock,
    private readonly result: OpeningResult,
  ) {
    this.wire = new BindWire(settings, clock, this);
    this.cancelDeadline = clock.after(settings.bindTimeoutMs, () => this.lost('no answer to the bind in time'));
  }

  connected(): void {
    const { bindAs, systemId, password, systemType, addressRange } = this.settings;
    this.wire.send({
      command: `bind_${bindAs}`,
      status: STATUS.ok,
      sequence: BIND_SEQUENCE,
      systemId,
      password,
      systemType,
      interfaceVersion: SMPP_3_4,
      addressRange,
    });
  }

  pdu(pdu: Pdu): void {
    const { sequence, status } = pdu;
    switch (pdu.command) {
      case 'bind_receiver_resp':
      case 'bind_transmitter_resp':
      case 'bind_transceiver_resp':
        if (sequence === BIND_SEQUENCE) this.answered(status, pdu.systemId);
        break;
      case 'generic_nack':
        this.answered(status || STATUS.unknownError, '');
        break;
      case 'enquire_link':
        this.wire.send({ command: 'enquire_link_resp', status: STATUS.ok, sequence });
        break;
      case 'unbind':
        this.lost('the SMSC unbound before it answered the bind');
        break;
      default:
        this.refuse(commandIdOf(pdu), sequence, STATUS.wrongBindState);
    }
  }

  malformed({ header, answer }: MalformedPdu): void {
    this.refuse(header.commandId, header.sequence, answer);
  }

  drained(): void {}

  lost(reason: string): void {
    this.fail(new BindError(reason));
  }

  private answered(status: number, systemId: string): void {
    if (status === STATUS.ok) {
      this.over = true;
      this.cancelDeadline();
      this.result.bound(this.wire, systemId);
    } else {
      const shown = `0x${status.toString(16).padStart(2, '0')}`;
      this.fail(new BindError(`the SMSC refused the bind with status ${shown}`, status));
    }
  }

  private refuse(commandId: number, sequence: number, status: number): void {
    const refusal = refusalOf(commandId, sequence, status);
    if (refusal !== undefined) this.wire.send(refusal);
  }

  private fail(error: BindError): void {
    if (this.over) return;
    this.over = true;
    this.cancelDeadline();
    this.wire.destroy();
    this.result.failed(error);
  }
}
