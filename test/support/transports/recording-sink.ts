import type { CarrierReceipt, InboundSms, SmsReport, SmsSink } from '../../../src/sms/sms-transport.js';

/** Keeps what a transport hands in. */
export class RecordingSink implements SmsSink {
  readonly reports: SmsReport[] = [];
  readonly receipts_: CarrierReceipt[] = [];
  readonly texts: InboundSms[] = [];
  /** Senders that could not be read, with their route. */
  readonly unread_: string[] = [];
  /** False: nothing can be stored. */
  open = true;

  unread(route: string, address: string): void {
    this.unread_.push(`${route} ${address}`);
  }

  async report(reports: readonly SmsReport[]): Promise<void> {
    this.store(this.reports, reports);
  }

  async receipts(receipts: readonly CarrierReceipt[]): Promise<void> {
    this.store(this.receipts_, receipts);
  }

  async inbound(texts: readonly InboundSms[]): Promise<void> {
    this.store(this.texts, texts);
  }

  private store<T>(where: T[], items: readonly T[]): void {
    if (!this.open) throw new Error('The storage is away.');
    where.push(...items);
  }
}
