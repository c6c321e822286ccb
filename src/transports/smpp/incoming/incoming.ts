import { Logger } from '@nestjs/common';
import type { Clock } from '../../../common/clock.js';
import { RareWarnings } from '../../../common/log.js';
import type { CarrierReceipt, InboundSms, SmsReport, SmsSink } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import type { IncomingSettings } from '../smpp-settings.js';
import { decodeText } from './decode-text.js';
import { incomingNumber } from './incoming-fields.js';
import { PartJoiner, textPart } from './part-joiner.js';
import { deliverKind, readReceipt } from './read-receipt.js';

/** Reads what comes in on the links and hands it to the sink. */
export class Incoming {
  private readonly log = new Logger('SmppSmsTransport');
  private readonly warnings: RareWarnings;
  private readonly joiner: PartJoiner;

  /** @param ours turns a receipt into a report when its message is known here and nowhere else */
  constructor(
    private readonly sink: SmsSink,
    private readonly ours: (receipt: CarrierReceipt) => SmsReport | undefined,
    clock: Clock,
  ) {
    this.warnings = new RareWarnings(this.log, clock);
    this.joiner = new PartJoiner(clock, (text) => void this.handIncomplete(text));
  }

  /** Resolves when it is stored, or when there is nothing in it to store. */
  async deliver(pdu: ShortMessage, settings: IncomingSettings): Promise<void> {
    const kind = deliverKind(pdu, settings);
    if (kind === 'text') return this.text(pdu, settings);
    if (kind === 'other') return;
    const receipt = readReceipt(pdu, settings);
    if (receipt) return this.handIn(receipt);
    this.warnings.warn(`Route ${settings.route}: a receipt without an id or a state.`);
  }

  /** Hands in what is still incomplete. */
  async close(): Promise<void> {
    await Promise.all(this.joiner.close().map((text) => this.handIncomplete(text)));
  }

  private async text(pdu: ShortMessage, settings: IncomingSettings): Promise<void> {
    const { octets, place } = textPart(pdu);
    const from = incomingNumber(pdu.source, false);
    const text = decodeText(octets, pdu.dataCoding, settings.defaultAlphabet);
    if (from === undefined || text === undefined) {
      const what = from === undefined ? 'from what is no whole number' : `of data_coding ${pdu.dataCoding}`;
      this.warnings.warn(`Route ${settings.route}: a message ${what} came in and is left aside.`);
      return;
    }
    const part = { route: settings.route, from, to: pdu.destination.address.replace(/^\+/, ''), text };
    if (!place) return this.handOn(part);
    const whole = this.joiner.add(part, place);
    if (!whole) return;
    await this.handOn(whole.text);
    whole.stored();
  }

  /** The carrier will not send it again: it was told that we have it. */
  private async handIncomplete(text: InboundSms): Promise<void> {
    try {
      await this.handOn(text);
    } catch {
      this.log.error(`Route ${text.route}: an inbound text of several parts could not be stored.`);
    }
  }

  private handOn(text: InboundSms): Promise<void> {
    // Halves of pairs that nothing made whole: no database wants them.
    return this.sink.inbound([{ ...text, text: text.text.replace(/\p{Surrogate}/gu, '\ufffd') }]);
  }

  private handIn(receipt: CarrierReceipt): Promise<void> {
    const report = this.ours(receipt);
    return report ? this.sink.report([report]) : this.sink.receipts([receipt]);
  }
}
