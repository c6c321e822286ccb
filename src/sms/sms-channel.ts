import { Injectable, Logger } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-settings.js';
import { SignatureDirectory } from '../accounts/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import { NO_ANSWER } from '../outbox/answers.js';
import { Channel, Channels, type Draft, type DraftRequest, type EarlyAnswers } from '../outbox/channel.js';
import type { DeliveryTiming, HandOff, RepeatPolicy } from '../outbox/hand-off.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { Payload } from '../outbox/send.js';
import { TextSources } from '../outbox/text-sources.js';
import { CarrierSink } from './carrier-sink.js';
import { EarlyResults, type Results } from './early-results.js';
import { OPTED_OUT, OptOutDirectory } from './opt-out-directory.js';
import { checkNumbers, checkText, priceRecipients } from './sms-draft.js';
import { SmsSettings } from './sms-options.js';
import { smsTiming } from './sms-timing.js';
import { type OutgoingSms, SmsTransport, type TellResult } from './sms-transport.js';
import { judgeSubmit, judgeSubmits } from './submit-answers.js';
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

  override async deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    early: EarlyAnswers,
  ): Promise<readonly HandOff[]> {
    const { leaseMs, reportDeadlineMs } = this.timing;
    // A slow batch takes most of its lease, and its parts must be as patient with the database as those of a quick one.
    const patientUntil = this.clock.elapsed() + leaseMs * 0.9;
    const unwanted = await this.unwanted(batch);
    if (!unwanted) return batch.map(() => ({ ...UNCHECKED, until: this.clock.now() + AWAY_MS }));
    const { wanted, answers } = this.sorted(batch, unwanted);
    const submit = { name: this.transport.name, reportDeadlineMs, patientUntil, signal };
    const keep = async (results: Results) => {
      const sent = [...results.keys()];
      const handOffs = await this.record.keep(sent, [...results.values()], submit);
      const kept = new Map<Delivery, HandOff>();
      for (const [index, sms] of sent.entries()) {
        const delivery = wanted.get(sms);
        if (delivery) kept.set(delivery, handOffs[index] ?? NO_ANSWER);
      }
      return kept;
    };
    // Whatever becomes of the others: these were never handed over.
    if (answers.size > 0) void early(answers);
    const results = await this.submit([...wanted.keys()], signal, async (told) => early(await keep(told)));
    for (const [delivery, handOff] of await keep(results)) answers.set(delivery, handOff);
    // What is missing here was told early.
    return batch.map((delivery): HandOff => answers.get(delivery) ?? NO_ANSWER);
  }

  override lanes(): undefined {
    return undefined;
  }

  override stop(): Promise<void> {
    return this.transport.stop();
  }

  /** The SMS of a batch, and what is answered for those that are not sent. */
  private sorted(batch: readonly Delivery[], unwanted: ReadonlySet<Delivery>): SortedBatch {
    const wanted = new Map<OutgoingSms, Delivery>();
    const answers = new Map<Delivery, HandOff>();
    const drafts = new Map<string, Spoken | undefined>();
    for (const delivery of batch) {
      const { messageId, position, sender, number, attempt, payload } = delivery;
      if (!drafts.has(messageId)) drafts.set(messageId, this.spoken(payload));
      const spoken = drafts.get(messageId);
      if (unwanted.has(delivery)) answers.set(delivery, { kind: 'refused', error: OPTED_OUT, unasked: true });
      else if (spoken === undefined) answers.set(delivery, { kind: 'refused', error: 'no_text', unasked: true });
      else wanted.set({ smsId: messageId, position, signature: sender, number, attempt, ...spoken }, delivery);
    }
    return { wanted, answers };
  }

  /** The results of those that `pass` did not get while the others were under way. */
  private async submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    pass: (results: Results) => Promise<void>,
  ): Promise<Results> {
    if (batch.length === 0) return new Map();
    const early = new EarlyResults(batch, this.clock, pass);
    const tell: TellResult = (sms, told) => {
      const { result, fault } = judgeSubmit(told);
      this.report(fault);
      early.take(sms, result);
    };
    try {
      const { answers: results, fault } = judgeSubmits(await this.transport.submit(batch, signal, tell), batch.length);
      this.report(fault);
      for (const [index, sms] of batch.entries()) early.take(sms, results[index] ?? NO_ANSWER);
      return await early.end();
    } catch (error) {
      // What it had told before is true all the same.
      await pass(await early.end());
      throw error;
    }
  }

  private report(fault: string | undefined): void {
    if (fault !== undefined) this.log.error(`The transport ${this.transport.name} ${fault}.`);
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

/** A batch without what is not to be sent. */
interface SortedBatch {
  readonly wanted: ReadonlyMap<OutgoingSms, Delivery>;
  readonly answers: Map<Delivery, HandOff>;
}

/** What a payload says at this moment. */
type Spoken = Pick<OutgoingSms, 'text' | 'expiresAt'>;
