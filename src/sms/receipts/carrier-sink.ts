import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { DEFAULT_TIMING, type DeliveryTiming } from '../../outbox/delivery/delivery-result.js';
import { Outbox } from '../../outbox/outbox.js';
import { InboundTexts } from '../inbound/inbound-texts.js';
import { UnreadNumbers } from '../inbound/unread-numbers.js';
import { SmsSettings } from '../sms-options.js';
import { type CarrierReceipt, type InboundSms, type SmsReport, type SmsSink, SmsTransport } from '../sms-transport.js';
import { carrierText } from './carrier-text.js';
import { ReceiptIntake } from './receipt-intake.js';

/**
 * Stores reports, receipts and texts that transports receive from carriers. It works in every process, also in a process without
 * workers.
 */
@Injectable()
export class CarrierSink implements SmsSink {
  constructor(
    private readonly transport: SmsTransport,
    private readonly settings: SmsSettings,
    private readonly outbox: Outbox,
    private readonly intake: ReceiptIntake,
    private readonly texts: InboundTexts,
    readonly unreadNumbers: UnreadNumbers,
    private readonly clock: Clock,
  ) {}

  report(reports: readonly SmsReport[]): Promise<void> {
    const at = this.clock.now();
    const { reportDeadlineMs } = smsTiming(this.transport, this.settings);
    return this.outbox.settle(
      reports.map(({ smsId, position, status, attempt, error }) => ({
        messageId: smsId,
        position,
        status,
        at,
        ...(attempt === undefined ? {} : { reportedAttempt: attempt }),
        ...(error === undefined ? {} : { error: carrierText(error) }),
        ...(status === 'sent' ? { dueAt: at + reportDeadlineMs } : {}),
      })),
    );
  }

  receipts(receipts: readonly CarrierReceipt[]): Promise<void> {
    return this.intake.receive(receipts);
  }

  inbound(messages: readonly InboundSms[]): Promise<void> {
    return this.texts.receive(messages);
  }

  unread(route: string, address: string): void {
    this.unreadNumbers.add(route, address);
  }
}

/**
 * Returns the timing of the channel. Each value comes from the host's options, else from the transport, else from the defaults.
 */
export function smsTiming({ timing }: Pick<SmsTransport, 'timing'>, { delivery }: SmsSettings): DeliveryTiming {
  return { ...DEFAULT_TIMING, ...timing, ...delivery };
}
