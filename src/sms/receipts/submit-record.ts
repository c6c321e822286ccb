import { Injectable, Logger } from '@nestjs/common';
import { AWAY_MS, pause } from '../../common/async.js';
import { Clock } from '../../common/clock.js';
import { StorageUnavailableError } from '../../common/errors.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import type { DeliveryResult } from '../../outbox/delivery-result.js';
import type { TrailEntry } from '../../outbox/delivery-state.js';
import { NO_ANSWER } from '../../outbox/result-checks.js';
import { measure } from '../segmentation.js';
import type { OutgoingSms, RouteAttempt, SubmitResult } from '../sms-transport.js';
import { carrierKey, carrierText } from './carrier-text.js';
import { PartStore } from './part-store.js';
import { PARKED_MS } from './receipt-intake.js';
import type { TakenSms } from './sms-part.js';

/** How long receipts are still taken after the outbox has stopped waiting for them. */
const LATE_MS = 24 * 3_600_000;
/** The most SMS whose parts wait in memory for the database. */
const MOST_LATE = 50_000;
/** The most parts that an SMS can have (3GPP TS 23.040 section 9.2.3.24.1): more ids are a mistake. */
const MOST_PARTS = 255;
/** The most characters of a reference that are stored. */
const LONGEST_REFERENCE = 255;

/** How a batch was submitted. */
interface Submit {
  /** The transport's name, for results that name no route. */
  readonly name: string;
  readonly reportDeadlineMs: number;
  /** Until when the results wait for the parts to be stored, by the clock's `elapsed`. */
  readonly patientUntil: number;
  readonly signal: AbortSignal;
}

/** Keeps what a carrier made of a batch beyond the state of each SMS: the ids of parts, the tries, its count of segments. */
@Injectable()
export class SubmitRecord {
  private readonly log = new Logger('SmsChannel');
  /** The oldest first. */
  private readonly late: LateParts[] = [];

  constructor(
    private readonly parts: PartStore,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
  ) {}

  /**
   * The results as the outbox takes them. Parts are stored by then, so that receipts find them; where the database is away
   * for longer than `patientUntil`, they are stored within the time for which receipts are parked.
   */
  async keep(
    batch: readonly OutgoingSms[],
    results: readonly SubmitResult[],
    submit: Submit,
  ): Promise<readonly DeliveryResult[]> {
    const at = this.clock.now();
    const taken: TakenSms[] = [];
    const handOffs = batch.map((sms, index): DeliveryResult => {
      const result = results[index] ?? NO_ANSWER;
      const trail = attemptTrail(result, this.compare(sms, result, submit), { name: submit.name, at });
      if (isReportedOn(result)) taken.push(takenSms(sms, result, trail, at, submit));
      return handOffOf(result, trail);
    });
    if (taken.length > 0) await this.store(taken, submit);
    return handOffs;
  }

  /** Our count of segments beside the carrier's, where it tells one; a difference is told the host. */
  private compare(
    { smsId, position, text }: OutgoingSms,
    { segments, route }: SubmitResult,
    { name }: Submit,
  ): SegmentCounts | undefined {
    if (segments === undefined) return undefined;
    const counts = { ours: measure(text).segments, carriers: segments };
    if (counts.ours !== counts.carriers) {
      this.events.emit('sms.segments_differ', { messageId: smsId, position, route: route ?? name, ...counts });
    }
    return counts;
  }

  /**
   * A storage that is away is asked again for a while: without its parts an SMS is never known to be delivered. What is not
   * stored by then does not hold up the results any longer; it is stored later.
   */
  private async store(taken: readonly TakenSms[], { patientUntil, signal }: Submit): Promise<void> {
    for (;;) {
      const outcome = await this.tryToStore(taken);
      if (outcome === 'stored') return;
      if (outcome === 'failed' || signal.aborted) return this.giveUp(taken.length);
      if (this.clock.elapsed() + AWAY_MS >= patientUntil) return this.storeLater(taken, signal);
      await pause(this.clock, AWAY_MS, signal);
    }
  }

  private async tryToStore(taken: readonly TakenSms[]): Promise<'stored' | 'away' | 'failed'> {
    try {
      const moved = await this.parts.record(taken, this.clock.now());
      for (const movement of moved) this.events.emit('delivery.moved', movement);
      return 'stored';
    } catch (error) {
      return error instanceof StorageUnavailableError ? 'away' : 'failed';
    }
  }

  private storeLater(taken: readonly TakenSms[], signal: AbortSignal): void {
    const waiting = this.late.reduce((sum, { taken: { length } }) => sum + length, 0);
    if (waiting + taken.length > MOST_LATE) {
      this.giveUp(taken.length);
      return;
    }
    this.late.push({ taken, until: this.clock.elapsed() + PARKED_MS });
    if (this.late.length === 1) void this.storeLate(signal);
  }

  /** Receipts that come meanwhile are parked, and find the parts when these are stored. */
  private async storeLate(signal: AbortSignal): Promise<void> {
    for (let [next] = this.late; next; [next] = this.late) {
      const outcome = await this.tryToStore(next.taken);
      if (outcome === 'away' && !signal.aborted && this.clock.elapsed() < next.until) {
        await pause(this.clock, AWAY_MS, signal);
        continue;
      }
      this.late.shift();
      if (outcome !== 'stored') this.giveUp(next.taken.length);
    }
  }

  private giveUp(count: number): void {
    this.log.error(`The parts of ${count} SMS could not be stored: receipts for them will be missed.`);
  }
}

/** Parts that could not be stored while the results of their batch could wait. */
interface LateParts {
  readonly taken: readonly TakenSms[];
  /** By the clock's `elapsed`. */
  readonly until: number;
}

/** Whether receipts will come under ids that the carrier gave. What is in doubt may be reported on too. */
function isReportedOn(result: SubmitResult): boolean {
  const open = result.kind === 'unknown' || (result.kind === 'sent' && result.final === undefined);
  return open && result.carrierIds?.some((id) => id !== '') === true;
}

function takenSms(
  { smsId, position, attempt, number }: OutgoingSms,
  { route, carrierIds = [] }: SubmitResult,
  trail: readonly TrailEntry[],
  at: number,
  { name, reportDeadlineMs }: Submit,
): TakenSms {
  return {
    ...{
      messageId: smsId,
      position,
      attempt,
      number,
      route: route ?? name,
      carrierIds: carrierIds.slice(0, MOST_PARTS).map(carrierKey),
    },
    ...{ at, expiresAt: at + reportDeadlineMs + LATE_MS, trail },
  };
}

/** What the outbox stores of a result; carriers' own words are made fit for it. */
function handOffOf(result: SubmitResult, trail: readonly TrailEntry[]): DeliveryResult {
  const reference = 'reference' in result ? result.reference : undefined;
  if (result.error === undefined && reference === undefined && trail.length === 0) return result;
  return {
    ...result,
    ...(result.error === undefined ? {} : { error: carrierText(result.error) }),
    ...(reference === undefined ? {} : { reference: carrierText(reference).slice(0, LONGEST_REFERENCE) }),
    ...(trail.length === 0 ? {} : { trail }),
  };
}

/** Our count of an SMS's segments beside the carrier's. */
interface SegmentCounts {
  readonly ours: number;
  readonly carriers: number;
}

const NONE: readonly TrailEntry[] = [];

/**
 * What is kept of the tries that led to a result, oldest first: route, outcome, the carrier's code, and at the last one
 * its count of segments beside ours. Nothing for a result that says nothing of its way, as the sandbox's.
 */
function attemptTrail(
  { attempts, route, carrierIds, kind, error, trail = NONE }: SubmitResult,
  counts: SegmentCounts | undefined,
  { name, at }: { readonly name: string; readonly at: number },
): readonly TrailEntry[] {
  const told = attempts ?? route ?? carrierIds ?? counts;
  if (told === undefined) return trail;
  const itself = { route: route ?? name, outcome: kind, at, ...(error === undefined ? {} : { code: error }) };
  const tries = (attempts ?? [itself]).map(entryOf);
  const last = tries.at(-1);
  if (!counts || !last) return [...trail, ...tries];
  return [...trail, ...tries.slice(0, -1), { ...last, segments: counts.carriers, our_segments: counts.ours }];
}

function entryOf({ at, route, outcome, code }: RouteAttempt): TrailEntry {
  return { at, route, outcome, ...(code === undefined ? {} : { code: carrierText(code) }) };
}
