import type { Clock } from '../../common/clock.js';
import type { FaultLog } from '../../common/log.js';
import type { InboundSms, SmsSink } from '../sms-transport.js';
import { PartJoiner } from './part-joiner.js';
import type { PartPlace } from './part-place.js';

/** A text from a phone, or a part of one. */
export interface InboundPart {
  readonly text: InboundSms;
  /** Undefined for a whole text. */
  readonly place: PartPlace | undefined;
}

/** Joins the parts of long texts, and stores whole texts. */
export class InboundTexts {
  private readonly joiner: PartJoiner;

  constructor(
    private readonly sink: Pick<SmsSink, 'inbound'>,
    clock: Clock,
    private readonly log: FaultLog,
  ) {
    this.joiner = new PartJoiner(clock, (text) => void this.storeIncomplete(text));
  }

  /** Resolves when the whole texts among them are stored; parts are kept until the others have arrived. */
  async receive(arrived: readonly InboundPart[]): Promise<void> {
    const whole = arrived.flatMap(({ text, place }) =>
      place === undefined ? { text, stored: () => undefined } : (this.joiner.add(text, place) ?? []),
    );
    if (whole.length === 0) return;
    await this.store(whole.map(({ text }) => text));
    for (const { stored } of whole) stored();
  }

  /** Stores the texts that are still incomplete, with the parts that arrived. */
  async close(): Promise<void> {
    await Promise.all(this.joiner.close().map((text) => this.storeIncomplete(text)));
  }

  /** An error is only logged, because the parts are acknowledged and the carrier will not repeat them. */
  private async storeIncomplete(text: InboundSms): Promise<void> {
    try {
      await this.store([text]);
    } catch {
      const { route } = text;
      this.log.error(`Route ${route}: an inbound text of several parts could not be stored.`, { route });
    }
  }

  /** Replaces lone surrogates that no other part completed, because databases cannot store them. */
  private store(texts: readonly InboundSms[]): Promise<void> {
    return this.sink.inbound(texts.map((sms) => ({ ...sms, text: sms.text.replace(/\p{Surrogate}/gu, '\ufffd') })));
  }
}
