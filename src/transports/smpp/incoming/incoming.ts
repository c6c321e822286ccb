import type { Clock } from '../../../common/clock.js';
import { type FaultLog, faultLog } from '../../../common/log.js';
import type { CarrierReceipt, SmsReport, SmsSink } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import type { IncomingSettings } from '../smpp-settings.js';
import { decodeText } from './decode-text.js';
import { addressOf } from './incoming-fields.js';
import { deliverKind, readReceipt } from './read-receipt.js';
import { textPart } from './text-part.js';
import { type Connection, TextRepeats } from './text-repeats.js';

/** Reads receipts and inbound texts from the links and passes them to the sink. */
export class Incoming {
  private readonly log: FaultLog;
  private readonly repeats: TextRepeats;

  /** @param reportOf turns a receipt into a report if its message is known only in memory, by `LateResults` */
  constructor(
    private readonly sink: SmsSink,
    private readonly reportOf: (receipt: CarrierReceipt) => SmsReport | undefined,
    clock: Clock,
  ) {
    this.log = faultLog('SmppSmsTransport', clock);
    this.repeats = new TextRepeats(clock);
  }

  /** Resolves when the content of a PDU is stored, or when it has none to store. */
  async deliver(pdu: ShortMessage, settings: IncomingSettings, connection: Connection): Promise<void> {
    const kind = deliverKind(pdu, settings);
    if (kind === 'text') return this.text(pdu, settings, connection);
    if (kind === 'other') return;
    const receipt = readReceipt(pdu, settings);
    const { route } = settings;
    if (receipt?.unread) {
      const sentence = `Route ${route}: a receipt has a state that is not known, so it changes nothing. The option receiptStates says what it means.`;
      // The carrier's word may contain a phone number.
      this.log.warn(sentence, { route, code: receipt.error?.replace(/\d{4,}/g, '*') });
    }
    if (receipt) return this.storeReceipt(receipt);
    this.log.warn(`Route ${route}: a receipt without an id or a state.`, { route });
  }

  private async text(pdu: ShortMessage, settings: IncomingSettings, connection: Connection): Promise<void> {
    const { octets, place } = textPart(pdu);
    const { route, home } = settings;
    const sender = addressOf(pdu.source, home);
    if (sender === undefined) return this.sink.unread(route, pdu.source.address);
    const text = decodeText(octets, pdu.dataCoding, settings.defaultAlphabet);
    if (sender.kind === 'name' || text === undefined) {
      const what = sender.kind === 'name' ? 'from a name or a short code' : `of data_coding ${pdu.dataCoding}`;
      this.log.warn(`Route ${route}: a received message ${what} is ignored.`, { route });
      return;
    }
    const sms = { route, from: sender.number, to: pdu.destination.address.replace(/^\+/, ''), text };
    if (place) return this.sink.inbound([{ ...sms, part: place }]);
    const { key, stored } = this.repeats.arrived(sms, connection);
    await this.sink.inbound([{ ...sms, key }]);
    stored();
  }

  private storeReceipt(receipt: CarrierReceipt): Promise<void> {
    const report = this.reportOf(receipt);
    return report ? this.sink.report([report]) : this.sink.receipts([receipt]);
  }
}
