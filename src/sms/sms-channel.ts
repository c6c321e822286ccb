import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Channel, Channels } from '../outbox/channel.js';
import { DEFAULT_TIMING, type DeliveryTiming, type HandOff, type RepeatPolicy } from '../outbox/hand-off.js';
import { Outbox } from '../outbox/outbox.js';
import type { Delivery } from '../outbox/outbox-store.js';
import { TextSources } from '../outbox/text-sources.js';
import { SmsSettings } from './sms-options.js';
import { type SmsReport, SmsTransport } from './sms-transport.js';

/** The name of the SMS channel. */
export const SMS = 'sms';

/** Hands what the outbox has to the SMS transport, and the transport's reports to the outbox. */
@Injectable()
export class SmsChannel extends Channel {
  override readonly name = SMS;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;

  constructor(
    private readonly transport: SmsTransport,
    private readonly outbox: Outbox,
    private readonly texts: TextSources,
    private readonly clock: Clock,
    settings: SmsSettings,
    channels: Channels,
  ) {
    super();
    this.repeat = transport.repeat;
    this.timing = { ...DEFAULT_TIMING, ...transport.timing, ...settings.delivery };
    channels.register(this);
  }

  override start(): Promise<void> {
    return this.transport.start((reports) => this.report(reports));
  }

  override deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly HandOff[]> {
    const texts = new Map<string, string>();
    const textOf = ({ messageId, payload }: Delivery) => {
      const text = texts.get(messageId) ?? this.texts.textOf(payload);
      texts.set(messageId, text);
      return text;
    };
    const sms = batch.map((delivery) => ({
      smsId: delivery.messageId,
      position: delivery.position,
      signature: delivery.sender,
      number: delivery.number,
      text: textOf(delivery),
      attempt: delivery.attempt,
    }));
    return this.transport.submit(sms, signal);
  }

  override lanes(): undefined {
    return undefined;
  }

  override stop(): Promise<void> {
    return this.transport.stop();
  }

  private report(reports: readonly SmsReport[]): Promise<void> {
    const at = this.clock.now();
    return this.outbox.report(
      reports.map(({ smsId, position, status, error }) => ({
        messageId: smsId,
        position,
        status,
        at,
        ...(error === undefined ? {} : { error }),
        ...(status === 'sent' ? { dueAt: at + this.timing.reportDeadlineMs } : {}),
      })),
    );
  }
}
