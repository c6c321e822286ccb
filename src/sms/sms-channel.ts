import { Injectable, Optional } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-options.js';
import { SignatureDirectory } from '../accounts/signatures/signature-directory.js';
import { Clock } from '../common/clock.js';
import { STORAGE_RETRY_MS } from '../common/concurrency/async.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../common/log.js';
import type { Payload } from '../outbox/accept/send.js';
import { Channel, Channels, type Draft, type DraftRequest, type StoreEarlyResults } from '../outbox/channel.js';
import type { DeliveryResult, DeliveryTiming, RepeatPolicy } from '../outbox/delivery/delivery-result.js';
import { NO_ANSWER } from '../outbox/delivery/result-checks.js';
import { OperatingSwitches } from '../outbox/operating-state.js';
import type { Delivery } from '../outbox/outbox-records.js';
import { isPersonal } from '../outbox/payload.js';
import { TextSources } from '../outbox/text-sources.js';
import { closingOf } from '../outbox/windows/attempt-time.js';
import { type RouteState, SubmitTally } from './carrier-state.js';
import type { UnreadNumber } from './inbound/unread-numbers.js';
import { OPTED_OUT, OptOutDirectory } from './opt-out/opt-out-directory.js';
import { CarrierSink, smsTiming } from './receipts/carrier-sink.js';
import { checkSubmitResult, checkSubmitResults } from './receipts/submit-answers.js';
import { SubmitRecord } from './receipts/submit-record.js';
import { SmsSettings } from './sms-options.js';
import { checkText, priceRecipients } from './sms-pricing.js';
import { type OutgoingSms, type ReportResult, SmsTransport, type SubmitResult } from './sms-transport.js';
import { checkNumbers } from './texts/addressees.js';
import { type CompleteText, completerOf } from './texts/completed-text.js';

/** The name of the SMS channel. */
export const SMS = 'sms';

/** Submits deliveries to the SMS transport. The transport reports to {@link CarrierSink}. */
@Injectable()
export class SmsChannel extends Channel {
  override readonly name = SMS;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;
  override readonly isSandbox: boolean;
  private readonly log: FaultLog;
  /** How many deliveries the transport does not know yet. */
  private preparing = 0;
  private readonly tally = new SubmitTally();

  constructor(
    private transport: SmsTransport,
    private readonly record: SubmitRecord,
    private readonly sink: CarrierSink,
    private readonly texts: TextSources,
    private readonly clock: Clock,
    private readonly settings: SmsSettings,
    private readonly signatures: SignatureDirectory,
    private readonly accounts: AccountSettings,
    private readonly optOuts: OptOutDirectory,
    channels: Channels,
    @Optional() private readonly switches?: OperatingSwitches,
  ) {
    super();
    this.log = faultLog('SmsChannel', clock);
    this.repeat = transport.repeat;
    this.isSandbox = transport.name === 'sandbox';
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
    if (this.isRested()) return batch.map(() => ({ ...RESTED, until: this.clock.now() + REST_POSTPONEMENT_MS }));
    const { leaseMs, reportDeadlineMs } = this.timing;
    // The time is relative to the lease, because a slow batch must wait for the database as long as a quick one.
    const patientUntil = this.clock.elapsed() + leaseMs * 0.9;
    this.preparing += batch.length;
    const optedOut = await this.optedOut(batch).finally(() => {
      this.preparing -= batch.length;
    });
    if (!optedOut) return batch.map(() => ({ ...UNCHECKED, until: this.clock.now() + STORAGE_RETRY_MS }));
    const { toSend, notSent } = this.partition(batch, optedOut);
    const submit = { name: this.transport.name, reportDeadlineMs, patientUntil, signal };
    const keep = async (results: Results) => {
      const sent = [...results.keys()];
      const recorded = await this.record.keep(sent, [...results.values()], submit);
      const kept = new Map<Delivery, DeliveryResult>();
      for (const [index, sms] of sent.entries()) {
        const delivery = toSend.get(sms);
        if (delivery) kept.set(delivery, recorded[index] ?? NO_ANSWER);
      }
      return kept;
    };
    // These deliveries are not submitted, so their results do not depend on the others.
    if (notSent.size > 0) void early(notSent);
    const submitted = await this.submit([...toSend.keys()], signal, async (known) => early(await keep(known)));
    const kept = await keep(submitted);
    // A delivery without a result here has already had an early result.
    return batch.map((delivery): DeliveryResult => notSent.get(delivery) ?? kept.get(delivery) ?? NO_ANSWER);
  }

  /**
   * Wraps the transport, so that its calls can be observed. Call it before the start.
   * @internal
   */
  observe(wrap: (transport: SmsTransport) => SmsTransport): void {
    this.transport = wrap(this.transport);
  }

  override lanes(): undefined {
    return undefined;
  }

  /** Returns the transport's capacity. If its `capacity` throws, or returns anything but a number, there is no limit. */
  override capacity(): number | undefined {
    if (this.isRested()) return 0;
    try {
      const capacity: unknown = this.transport.capacity?.();
      if (capacity === undefined) return undefined;
      if (typeof capacity === 'number' && !Number.isNaN(capacity)) return capacity - this.preparing;
      const { name } = this.transport;
      this.log.warn(`The transport ${name} gave a capacity that is not a number, so it is not limited.`, {
        route: name,
      });
    } catch (error) {
      const { name } = this.transport;
      const fields = { code: faultCode(error), route: name };
      this.log.warn(`The transport ${name} threw ${nameOf(error)} when asked for its capacity.`, fields);
    }
    return undefined;
  }

  /** The routes that had texts whose sender could not be read. */
  get unreadNumbers(): readonly UnreadNumber[] {
    return this.sink.unreadNumbers.all();
  }

  /** The routes of the transport, with counts of the submitted SMS. */
  get carriers(): readonly RouteState[] {
    const { name: transport } = this.transport;
    const routes = this.routes() ?? [{ name: transport, transport, usable: true, links: [] }];
    const { submits, lastError } = this.tally;
    const counted = { submits, ...(lastError !== undefined && { lastError }) };
    // A transport with several routes counts its SMS itself.
    return routes.map((route) => (route.submits === undefined ? { ...route, ...counted } : route));
  }

  override stop(): Promise<void> {
    return this.transport.stop();
  }

  private routes(): readonly RouteState[] | undefined {
    try {
      return this.transport.state?.();
    } catch (error) {
      const { name } = this.transport;
      const fields = { code: faultCode(error), route: name };
      this.log.warn(`The transport ${name} threw ${nameOf(error)} when asked for its routes.`, fields);
      return undefined;
    }
  }

  /** Whether an operator rests the whole transport. A transport with several routes handles resting routes itself. */
  private isRested(): boolean {
    const { name } = this.transport;
    if (!this.switches?.peek().rested.has(name)) return false;
    const routes = this.routes();
    return routes === undefined || (routes.length === 1 && routes[0]?.name === name);
  }

  /** Splits a batch into the SMS to send and the results of deliveries that are not sent. */
  private partition(batch: readonly Delivery[], optedOut: ReadonlySet<Delivery>): PartitionedBatch {
    const toSend = new Map<OutgoingSms, Delivery>();
    const notSent = new Map<Delivery, DeliveryResult>();
    const texts = new Map<string, WireText | CompleteText | undefined>();
    const now = this.clock.now();
    for (const delivery of batch) {
      const { messageId, position, sender, number, attempt, priority, payload, trace, schedule } = delivery;
      const closesAt = closingOf(delivery, now);
      if (!texts.has(messageId)) texts.set(messageId, this.toWireText(payload));
      const ofMessage = texts.get(messageId);
      const wireText = typeof ofMessage === 'function' ? toOwnText(ofMessage, delivery) : ofMessage;
      if (optedOut.has(delivery)) notSent.set(delivery, { kind: 'refused', error: OPTED_OUT, unasked: true });
      else if (wireText === undefined) notSent.set(delivery, { kind: 'refused', error: 'no_text', unasked: true });
      else
        toSend.set(
          {
            smsId: messageId,
            position,
            signature: sender,
            number,
            attempt,
            priority,
            ...(schedule?.validUntil === undefined ? {} : { expiresAt: schedule.validUntil }),
            ...wireText,
            ...(closesAt === undefined ? {} : { closesAt }),
            ...(trace === undefined ? {} : { trace }),
          },
          delivery,
        );
    }
    return { toSend, notSent };
  }

  /** Submits a batch and returns the results that were not passed on early. */
  private async submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    pass: (results: Results) => Promise<void>,
  ): Promise<Results> {
    if (batch.length === 0) return new Map();
    const early = new EarlyResults(batch, this.clock, pass);
    const report: ReportResult = (sms, given) => {
      const { result, fault } = checkSubmitResult(given);
      this.report(fault);
      this.take(early, sms, result);
    };
    try {
      const { results, fault } = checkSubmitResults(await this.transport.submit(batch, signal, report), batch.length);
      this.report(fault);
      for (const [index, sms] of batch.entries()) this.take(early, sms, results[index] ?? NO_ANSWER);
      return await early.end();
    } catch (error) {
      // The results that the transport reported before the error are valid.
      await pass(await early.end());
      throw error;
    }
  }

  private take(early: EarlyResults, sms: OutgoingSms, result: SubmitResult): void {
    if (early.take(sms, result)) this.tally.take(result);
  }

  private report(fault: string | undefined): void {
    const { name } = this.transport;
    if (fault !== undefined) this.log.error(`The transport ${name} ${fault}.`, { channel: SMS, route: name });
  }

  /** Returns the deliveries whose numbers have opted out since the send was accepted. Undefined if the storage is unavailable. */
  private async optedOut(batch: readonly Delivery[]): Promise<ReadonlySet<Delivery> | undefined> {
    try {
      return await this.optOuts.optedOut(batch);
    } catch (error) {
      if (error instanceof StorageUnavailableError) return undefined;
      throw error;
    }
  }

  /**
   * Builds the text of a payload, or returns what completes it for each recipient. Undefined if it can no longer be built, for
   * example without the pepper of an old code.
   */
  private toWireText(payload: Payload): WireText | CompleteText | undefined {
    if (isPersonal(payload)) return completerOf(payload);
    try {
      const text = this.texts.textOf(payload);
      const expiresAt = this.texts.expiryOf(payload);
      return expiresAt === undefined ? { text } : { text, expiresAt };
    } catch {
      return undefined;
    }
  }
}

/** The result of a batch while the suppression list cannot be read. */
const UNCHECKED = { kind: 'postponed', error: 'storage_away' } as const;
/** The result of a batch while an operator rests the transport. */
const RESTED = { kind: 'postponed', error: 'resting' } as const;
/** How long deliveries are postponed while an operator rests the transport, in milliseconds. */
const REST_POSTPONEMENT_MS = 1000;

/** A batch, split by whether a delivery is sent. */
interface PartitionedBatch {
  readonly toSend: ReadonlyMap<OutgoingSms, Delivery>;
  /** The results of deliveries that are not sent. */
  readonly notSent: ReadonlyMap<Delivery, DeliveryResult>;
}

/** The text of a payload at this moment. */
type WireText = Pick<OutgoingSms, 'text' | 'expiresAt'>;

/** The text of one recipient. */
function toOwnText(complete: CompleteText, { vars }: Delivery): WireText | undefined {
  const text = complete(vars);
  return text === undefined ? undefined : { text };
}

/** How long results are gathered before they are stored, in milliseconds. A crash loses the results of at most this time. */
const GATHER_MS = 1000;

/** The transport's results by SMS. */
type Results = ReadonlyMap<OutgoingSms, SubmitResult>;

/**
 * Passes on the results of a batch once a second while other SMS of the batch are being submitted. If passing on takes longer,
 * for example because the storage is unavailable, the next results wait for it.
 */
export class EarlyResults {
  private readonly open: Set<OutgoingSms>;
  private fresh = new Map<OutgoingSms, SubmitResult>();
  /** Results whose passing on failed. */
  private readonly failed = new Map<OutgoingSms, SubmitResult>();
  private passing: Promise<void> | undefined;
  private cancel: (() => void) | undefined;

  /** @param pass passes results on. If it rejects, `end` returns these results */
  constructor(
    batch: readonly OutgoingSms[],
    private readonly clock: Clock,
    private readonly pass: (results: Results) => Promise<void>,
  ) {
    this.open = new Set(batch);
  }

  /** Takes a result. Only the first result of an SMS counts. Returns whether it was the first. */
  take(sms: OutgoingSms, result: SubmitResult): boolean {
    if (!this.open.delete(sms)) return false;
    this.fresh.set(sms, result);
    this.passSoon();
    return true;
  }

  /** Stops taking results, waits until passing on is done, and returns the results that were not passed on. */
  async end(): Promise<Results> {
    this.open.clear();
    const { passing } = this;
    await passing;
    this.cancel?.();
    return new Map([...this.failed, ...this.fresh]);
  }

  private passSoon(): void {
    if (this.passing === undefined) this.cancel ??= this.clock.after(GATHER_MS, () => this.passOn());
  }

  private passOn(): void {
    this.cancel = undefined;
    const { fresh } = this;
    this.fresh = new Map();
    this.passing = this.passResults(fresh);
  }

  private async passResults(results: Results): Promise<void> {
    try {
      await this.pass(results);
    } catch {
      for (const [sms, result] of results) this.failed.set(sms, result);
    }
    this.passing = undefined;
    if (this.fresh.size > 0) this.passSoon();
  }
}
