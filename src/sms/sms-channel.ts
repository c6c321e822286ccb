import { Injectable } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-settings.js';
import { SignatureDirectory } from '../accounts/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { Channel, Channels, type Draft, type DraftRequest } from '../outbox/channel.js';
import { DEFAULT_TIMING, type DeliveryTiming, type HandOff, type RepeatPolicy } from '../outbox/hand-off.js';
import { Outbox } from '../outbox/outbox.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { Payload } from '../outbox/send.js';
import { TextSources } from '../outbox/text-sources.js';
import { checkNumbers, checkText, priceRecipients } from './sms-draft.js';
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
    private readonly settings: SmsSettings,
    private readonly signatures: SignatureDirectory,
    private readonly accounts: AccountSettings,
    channels: Channels,
  ) {
    super();
    this.repeat = transport.repeat;
    this.timing = { ...DEFAULT_TIMING, ...transport.timing, ...settings.delivery };
    channels.register(this);
  }

  override async draft({ accountId, number, text, signature }: DraftRequest): Promise<Draft> {
    const { segments } = checkText(text, this.settings);
    const [sender] = signature === undefined ? this.accounts.signatures : [signature];
    if (!(await this.signatures.isUsable(accountId, sender))) throw new MessagingError('error.signature_refused');
    const [recipient] = await priceRecipients(await checkNumbers([number], this.settings), segments, this.settings);
    return { sender, units: recipient?.units ?? 0 };
  }

  override start(): Promise<void> {
    return this.transport.start({
      report: (reports) => this.report(reports),
      receipts: async () => undefined,
      inbound: async () => undefined,
    });
  }

  override async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly HandOff[]> {
    const texts = new Map<string, string | undefined>();
    for (const { messageId, payload } of batch) {
      if (!texts.has(messageId)) texts.set(messageId, this.textOf(payload));
    }
    const sms = batch.flatMap(({ messageId, position, sender, number, attempt }) => {
      const text = texts.get(messageId);
      return text === undefined ? [] : [{ smsId: messageId, position, signature: sender, number, text, attempt }];
    });
    const results = sms.length > 0 ? await this.transport.submit(sms, signal) : [];
    if (sms.length === batch.length) return results;
    const next = results[Symbol.iterator]();
    return batch.map(({ messageId }): HandOff => {
      if (texts.get(messageId) === undefined) return { kind: 'refused', error: 'no_text' };
      return next.next().value ?? { kind: 'unknown', error: 'no_answer' };
    });
  }

  override lanes(): undefined {
    return undefined;
  }

  override stop(): Promise<void> {
    return this.transport.stop();
  }

  /** Undefined when nobody can make it any more, for instance without the pepper of an old code. */
  private textOf(payload: Payload): string | undefined {
    try {
      return this.texts.textOf(payload);
    } catch {
      return undefined;
    }
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
