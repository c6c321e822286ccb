import { Injectable, Logger } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-options.js';
import { SignatureDirectory } from '../accounts/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import { Channel, Channels, type Draft, type DraftRequest, type StoreEarlyResults } from '../outbox/channel.js';
import type { DeliveryResult, DeliveryTiming, RepeatPolicy } from '../outbox/delivery-result.js';
import type { Delivery } from '../outbox/outbox-store.js';
import { NO_ANSWER } from '../outbox/result-checks.js';
import type { Payload } from '../outbox/send.js';
import { TextSources } from '../outbox/text-sources.js';
import { OPTED_OUT, OptOutDirectory } from './opt-out/opt-out-directory.js';
import { CarrierSink, smsTiming } from './receipts/carrier-sink.js';
import { checkSubmitResult, checkSubmitResults } from './receipts/submit-answers.js';
import { SubmitRecord } from './receipts/submit-record.js';
import { checkNumbers, checkText, priceRecipients } from './sms-draft.js';
import { SmsSettings } from './sms-options.js';
import { type OutgoingSms, SmsTransport, type SubmitResult, type TellResult } from './sms-transport.js';

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
    early: StoreEarlyResults,
  ): Promise<readonly DeliveryResult[]> {
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
      const kept = new Map<Delivery, DeliveryResult>();
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
    return batch.map((delivery): DeliveryResult => answers.get(delivery) ?? NO_ANSWER);
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
    const answers = new Map<Delivery, DeliveryResult>();
    const drafts = new Map<string, Spoken | undefined>();
    for (const delivery of batch) {
      const { messageId, position, sender, number, attempt, payload } = delivery;
      if (!drafts.has(messageId)) drafts.set(messageId, this.toWireText(payload));
      const wireText = drafts.get(messageId);
      if (unwanted.has(delivery)) answers.set(delivery, { kind: 'refused', error: OPTED_OUT, unasked: true });
      else if (wireText === undefined) answers.set(delivery, { kind: 'refused', error: 'no_text', unasked: true });
      else wanted.set({ smsId: messageId, position, signature: sender, number, attempt, ...wireText }, delivery);
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
      const { result, fault } = checkSubmitResult(told);
      this.report(fault);
      early.take(sms, result);
    };
    try {
      const { answers: results, fault } = checkSubmitResults(
        await this.transport.submit(batch, signal, tell),
        batch.length,
      );
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
  private toWireText(payload: Payload): Spoken | undefined {
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
  readonly answers: Map<Delivery, DeliveryResult>;
}

/** What a payload says at this moment. */
type Spoken = Pick<OutgoingSms, 'text' | 'expiresAt'>;

/** How long results are gathered: so much knowledge a crash may cost, and so often a slow batch writes. */
const GATHER_MS = 1000;

/** What the transport made of SMS, by themselves. */
type Results = ReadonlyMap<OutgoingSms, SubmitResult>;

/**
 * Results of SMS as they come. While others of the batch are still under way, what came is passed on once a second; where
 * that takes longer, as with a storage that is away, the next ones wait for it.
 */
export class EarlyResults {
  private readonly open: Set<OutgoingSms>;
  private fresh = new Map<OutgoingSms, SubmitResult>();
  /** What could not be passed on. */
  private readonly left = new Map<OutgoingSms, SubmitResult>();
  private passing: Promise<void> | undefined;
  private cancel: (() => void) | undefined;

  /** @param pass where it fails, its results are among those of the end */
  constructor(
    batch: readonly OutgoingSms[],
    private readonly clock: Clock,
    private readonly pass: (results: Results) => Promise<void>,
  ) {
    this.open = new Set(batch);
  }

  /** The first result of an SMS counts. */
  take(sms: OutgoingSms, result: SubmitResult): void {
    if (!this.open.delete(sms)) return;
    this.fresh.set(sms, result);
    this.passSoon();
  }

  /** Nothing is taken any more. Answers what is not passed on, once all else is. */
  async end(): Promise<Results> {
    this.open.clear();
    const { passing } = this;
    await passing;
    this.cancel?.();
    return new Map([...this.left, ...this.fresh]);
  }

  private passSoon(): void {
    if (this.passing === undefined) this.cancel ??= this.clock.after(GATHER_MS, () => this.passOn());
  }

  private passOn(): void {
    this.cancel = undefined;
    const { fresh } = this;
    this.fresh = new Map();
    this.passing = this.passed(fresh);
  }

  private async passed(results: Results): Promise<void> {
    try {
      await this.pass(results);
    } catch {
      for (const [sms, result] of results) this.left.set(sms, result);
    }
    this.passing = undefined;
    if (this.fresh.size > 0) this.passSoon();
  }
}
