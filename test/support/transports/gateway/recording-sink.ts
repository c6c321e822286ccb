import type { CarrierReceipt, InboundSms, SmsReport, SmsSink } from '../../../../src/sms/sms-transport.js';

/** Keeps what a transport reports. A test can make `store` fail or wait. */
export class RecordingSink implements SmsSink {
  readonly reported: SmsReport[] = [];
  readonly received: CarrierReceipt[] = [];
  readonly texts: InboundSms[] = [];
  /** Senders that could not be read, with their route. */
  readonly unread_: string[] = [];
  store: () => Promise<void> = async () => undefined;

  unread(route: string, address: string): void {
    this.unread_.push(`${route} ${address}`);
  }

  async report(reports: readonly SmsReport[]): Promise<void> {
    await this.store();
    this.reported.push(...reports);
  }

  async receipts(receipts: readonly CarrierReceipt[]): Promise<void> {
    await this.store();
    this.received.push(...receipts);
  }

  async inbound(messages: readonly InboundSms[]): Promise<void> {
    await this.store();
    this.texts.push(...messages);
  }
}
