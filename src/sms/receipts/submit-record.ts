import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { pause, STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { StorageUnavailableError } from '../../common/errors.js';
import { faultLog } from '../../common/log.js';
import { DAY_MS } from '../../common/time.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import type { DeliveryResult } from '../../outbox/delivery/delivery-result.js';
import { NO_ANSWER } from '../../outbox/delivery/result-checks.js';
import type { AttemptEntry, TrailEntry } from '../../outbox/delivery-state.js';
import { measure } from '../segmentation.js';
import type { OutgoingSms, RouteAttempt, SubmitResult } from '../sms-transport.js';
import { carrierKey, carrierText } from './carrier-text.js';
import { PartStore } from './part-store.js';
import { PARKED_MS } from './receipt-intake.js';
import type { TakenSms } from './sms-part.js';

/** How long receipts are accepted after the outbox's report deadline. */
const LATE_MS = DAY_MS;
/** The maximum number of SMS whose parts wait in memory for the database. */
const MAX_LATE = 50_000;
/** The maximum number of parts of an SMS (3GPP TS 23.040 clause 9.2.3.24.1). Further ids are ignored. */
const MAX_PARTS = 255;
/** How many characters of a reference are stored. */
const MAX_REFERENCE_LENGTH = 255;

/** The circumstances of a submitted batch. */
interface SubmitContext {
  /** The transport's name, for results without a route. */
  readonly name: string;
  readonly reportDeadlineMs: number;
  /** The time until which the results wait for the parts to be stored, by the clock's `elapsed`. */
  readonly patientUntil: number;
  readonly signal: AbortSignal;
}

/**
 * Stores the values that a carrier returned for a batch besides the status of each SMS: ids of parts, attempts, and the count of
 * segments.
 */
@Injectable()
export class SubmitRecord {
  /** Parts that are stored in the background, the oldest first. */
  private readonly late: LateParts[] = [];

  constructor(
    private readonly parts: PartStore,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores the parts, so that receipts find them, and returns the results in the outbox's form. If the database is unavailable
   * until `patientUntil`, the parts are stored later, within the time for which receipts are parked.
   */
  async keep(
    batch: readonly OutgoingSms[],
    results: readonly SubmitResult[],
    submit: SubmitContext,
  ): Promise<readonly DeliveryResult[]> {
    const at = this.clock.now();
    const taken: TakenSms[] = [];
    const kept = batch.map((sms, index): DeliveryResult => {
      const result = results[index] ?? NO_ANSWER;
      const trail = attemptTrail(result, this.compareSegments(sms, result, submit), { name: submit.name, at });
      if (isReportedOn(result)) taken.push(takenSms(sms, result, trail, at, submit));
      return deliveryResultOf(result, trail);
    });
    if (taken.length > 0) await this.store(taken, submit);
    return kept;
  }

  /** Compares our count of segments with the carrier's count, if it reports one. It emits an event if they differ. */
  private compareSegments(
    { smsId, position, text }: OutgoingSms,
    { segments, route }: SubmitResult,
    { name }: SubmitContext,
  ): SegmentCounts | undefined {
    if (segments === undefined) return undefined;
    const counts = { ours: measure(text).segments, carriers: segments };
    if (counts.ours !== counts.carriers) {
      this.events.emit('sms.segments_differ', { messageId: smsId, position, route: route ?? name, ...counts });
    }
    return counts;
  }

  /**
   * Stores parts and retries while the storage is unavailable, because no receipt can match an SMS without stored
   * parts. After `patientUntil` the parts are stored in the background, so that the results do not wait longer.
   */
  private async store(taken: readonly TakenSms[], { patientUntil, signal }: SubmitContext): Promise<void> {
    for (;;) {
      const outcome = await this.tryToStore(taken);
      if (outcome === 'stored') return;
      if (outcome === 'failed' || signal.aborted) return this.giveUp(taken.length);
      if (this.clock.elapsed() + STORAGE_RETRY_MS >= patientUntil) return this.storeLater(taken, signal);
      await pause(this.clock, STORAGE_RETRY_MS, signal);
    }
  }

  private async tryToStore(taken: readonly TakenSms[]): Promise<'stored' | 'away' | 'failed'> {
    try {
      const transitions = await this.parts.record(taken, this.clock.now());
      this.events.publishTransitions(transitions);
      return 'stored';
    } catch (error) {
      return error instanceof StorageUnavailableError ? 'away' : 'failed';
    }
  }

  private storeLater(taken: readonly TakenSms[], signal: AbortSignal): void {
    const waiting = this.late.reduce((sum, { taken: { length } }) => sum + length, 0);
    if (waiting + taken.length > MAX_LATE) {
      this.giveUp(taken.length);
      return;
    }
    this.late.push({ taken, until: this.clock.elapsed() + PARKED_MS });
    if (this.late.length === 1) void this.storeLate(signal);
  }

  /** Stores parts in the background. Receipts that arrive meanwhile are parked and applied when their parts are stored. */
  private async storeLate(signal: AbortSignal): Promise<void> {
    for (let [next] = this.late; next; [next] = this.late) {
      const outcome = await this.tryToStore(next.taken);
      if (outcome === 'away' && !signal.aborted && this.clock.elapsed() < next.until) {
        await pause(this.clock, STORAGE_RETRY_MS, signal);
        continue;
      }
      this.late.shift();
      if (outcome !== 'stored') this.giveUp(next.taken.length);
    }
  }

  private giveUp(count: number): void {
    const detail = ` Receipts for ${count} SMS will be missed.`;
    faultLog('SubmitRecord', this.clock).error('The parts of SMS could not be stored.', { channel: 'sms' }, detail);
  }
}

/** Parts that were not stored before `patientUntil`. */
interface LateParts {
  readonly taken: readonly TakenSms[];
  /** Until when to retry, by the clock's `elapsed`. */
  readonly until: number;
}

/** Whether receipts with ids of this result may follow. An `unknown` SMS may have receipts too. */
function isReportedOn(result: SubmitResult): boolean {
  const open = result.kind === 'unknown' || (result.kind === 'sent' && result.final === undefined);
  return open && result.carrierIds?.some((id) => carrierKey(id) !== '') === true;
}

function takenSms(
  { smsId, position, attempt, number }: OutgoingSms,
  { route, carrierIds = [] }: SubmitResult,
  trail: readonly TrailEntry[],
  at: number,
  { name, reportDeadlineMs }: SubmitContext,
): TakenSms {
  return {
    messageId: smsId,
    position,
    attempt,
    number,
    route: route ?? name,
    carrierIds: carrierIds.slice(0, MAX_PARTS).map(carrierKey),
    at,
    expiresAt: at + reportDeadlineMs + LATE_MS,
    trail,
  };
}

/** Returns the result in the outbox's form, with the carrier's texts in a form that can be stored. */
function deliveryResultOf(result: SubmitResult, trail: readonly TrailEntry[]): DeliveryResult {
  const reference = 'reference' in result ? result.reference : undefined;
  if (result.error === undefined && reference === undefined && trail.length === 0) return result;
  return {
    ...result,
    ...(result.error === undefined ? {} : { error: carrierText(result.error) }),
    ...(reference === undefined ? {} : { reference: carrierText(reference).slice(0, MAX_REFERENCE_LENGTH) }),
    ...(trail.length === 0 ? {} : { trail }),
  };
}

/** Our count of an SMS's segments and the carrier's. */
interface SegmentCounts {
  readonly ours: number;
  readonly carriers: number;
}

const NONE: readonly TrailEntry[] = [];

/**
 * Returns the attempts that led to a result, oldest first: route, outcome and carrier's code, and both counts of segments on the
 * last attempt. Returns none for a result without a route.
 */
function attemptTrail(
  { attempts, route, carrierIds, kind, error, trail = NONE }: SubmitResult,
  counts: SegmentCounts | undefined,
  { name, at }: { readonly name: string; readonly at: number },
): readonly TrailEntry[] {
  const details = attempts ?? route ?? carrierIds ?? counts;
  if (details === undefined) return trail;
  const single = { route: route ?? name, outcome: kind, at, ...(error === undefined ? {} : { code: error }) };
  const entries = (attempts ?? [single]).map(entryOf);
  const last = entries.at(-1);
  if (!counts || !last) return [...trail, ...entries];
  return [...trail, ...entries.slice(0, -1), { ...last, segments: counts.carriers, our_segments: counts.ours }];
}

function entryOf({ at, route, outcome, code }: RouteAttempt): AttemptEntry {
  return { at, route, outcome, ...(code === undefined ? {} : { code: carrierText(code) }) };
}
