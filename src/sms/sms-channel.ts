import { Injectable, Logger } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-settings.js';
import { SignatureDirectory } from '../accounts/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import { judgeAnswers } from '../outbox/answers.js';
import { Channel, Channels, type Draft, type DraftRequest } from '../outbox/channel.js';
import type { DeliveryTiming, HandOff, RepeatPolicy } from '../outbox/hand-off.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { Payload } from '../outbox/send.js';
import { TextSources } from '../outbox/text-sources.js';
import { CarrierSink } from './carrier-sink.js';
import { OPTED_OUT, OptOutDirectory } from './opt-out-directory.js';
import { checkNumbers, checkText, priceRecipients } from './sms-draft.js';
import { SmsSettings } from './sms-options.js';
import { smsTiming } from './sms-timing.js';
import { type OutgoingSms, SmsTransport, type SubmitResult } from './sms-transport.js';
import { SubmitRecord } from './submit-record.js';

/** The name of the SMS channel. */
export const SMS = 'sms';

/** Hands what the outbox has to the SMS transport; what the transport hears goes to {@link CarrierSink}. */
@Injectable()
export class SmsChannel extends Channel {
  override readonly name = SMS;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;
  private readonly log = new Logger('SmsChannel');

  constructor(
    private readonly transport: SmsTransport,
    private readonly record: SubmitRecord,
    private readonly sink: CarrierSink,
    private readonly texts: TextSources,
    private readonly clock: Clock,
    private readonly settings: SmsSettings,
    private readonly signatures: SignatureDirectory,
    private readonly accounts: AccountSettings,
    private readonly optOuts: OptOutDirectory,
    channels: Channels,
  ) {
    super();
    this.repeat = transport.repeat;
    this.timing = smsTiming(transport, settings);
    channels.register(this);
  }

  override async draft({ accountId, number, text, signature, host }: DraftRequest): Promise<Draft> {
    const { segments } = checkText(text, this.settings);
    const [sender] = signature === undefined ? this.accounts.signatures : [signature];
    if (!(await this.signatures.isUsable(accountId, sender, host))) throw new MessagingError('error.signature_refused');
    const [recipient] = await priceRecipients(await checkNumbers([number], this.settings), segments, this.settings);
    return { sender, units: recipient?.units ?? 0 };
  }

  override start(): Promise<void> {
    return this.transport.start(this.sink);
  }

  override async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly HandOff[]> {
    const { leaseMs, reportDeadlineMs } = this.timing;
    // A slow batch takes most of its lease, and its parts must be as patient with the database as those of a quick one.
    const patientUntil = this.clock.now() + leaseMs * 0.9;
    const unwanted = await this.unwanted(batch);
    if (!unwanted) return batch.map(() => ({ ...UNCHECKED, until: this.clock.now() + AWAY_MS }));
    const drafts = new Map<string, Spoken | undefined>();
    for (const { messageId, payload } of batch) {
      if (!drafts.has(messageId)) drafts.set(messageId, this.spoken(payload));
    }
    const sms = batch.flatMap((delivery): OutgoingSms[] => {
      const { messageId, position, sender, number, attempt } = delivery;
      const spoken = unwanted.has(delivery) ? undefined : drafts.get(messageId);
      return spoken === undefined
        ? []
        : [{ smsId: messageId, position, signature: sender, number, attempt, ...spoken }];
    });
    const submit = { name: this.transport.name, reportDeadlineMs, patientUntil, signal };
    const results = sms.length > 0 ? await this.record.keep(sms, await this.submit(sms, signal), submit) : [];
    if (sms.length === batch.length) return results;
    const next = results[Symbol.iterator]();
    return batch.map((delivery): HandOff => {
      if (unwanted.has(delivery)) return { kind: 'refused', error: OPTED_OUT, unasked: true };
      if (drafts.get(delivery.messageId) === undefined) return { kind: 'refused', error: 'no_text', unasked: true };
      return next.next().value ?? { kind: 'unknown', error: 'no_answer' };
    });
  }

  override lanes(): undefined {
    return undefined;
  }

  override stop(): Promise<void> {
    return this.transport.stop();
  }

  private async submit(sms: readonly OutgoingSms[], signal: AbortSignal): Promise<readonly SubmitResult[]> {
    const { answers, fault } = judgeAnswers<SubmitResult>(await this.transport.submit(sms, signal), sms.length);
    if (fault !== undefined) this.log.error(`The transport ${this.transport.name} ${fault}.`);
    return answers;
  }

  /** Who has opted out since the send was accepted; undefined when nobody can tell now. */
  private async unwanted(batch: readonly Delivery[]): Promise<ReadonlySet<Delivery> | undefined> {
    try {
      return await this.optOuts.unwanted(batch);
    } catch (error) {
      if (error instanceof StorageUnavailableError) return undefined;
      throw error;
    }
  }

  /** Undefined when nobody can make the text any more, for instance without the pepper of an old code. */
  private spoken(payload: Payload): Spoken | undefined {
    try {
      const text = this.texts.textOf(payload);
      const expiresAt = this.texts.expiryOf(payload);
      return expiresAt === undefined ? { text } : { text, expiresAt };
    } catch {
      return undefined;
    }
  }
}

/** Nothing is sent while the list of those who opted out cannot be read. */
const UNCHECKED = { kind: 'postponed', error: 'storage_away' } as const;
const AWAY_MS = 1000;

/** What a payload says at this moment. */
type Spoken = Pick<OutgoingSms, 'text' | 'expiresAt'>;
