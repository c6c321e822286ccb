import { phoneOf } from '../common/phone-numbers/phone-spellings.js';
import { MINUTE_MS } from '../common/time.js';
import { codeEvents } from '../events/account-events.js';
import type { NewEvent } from '../events/event-types.js';
import type { RecordStep } from '../outbox/policy/record-step.js';
import type { PolicyRecord, SeenRecords } from '../outbox/policy/send-policy.js';
import {
  CHALLENGE_KEPT_MS,
  type Challenge,
  challengeIn,
  longestOf,
  opensAt,
  statusOf,
  type TimeLog,
  withOneMore,
} from './challenge.js';
import { rulesFor } from './fraud-rules.js';
import type { OtpBinding } from './otp-codes.js';
import type { VerifyOutcome } from './otp-results.js';
import type { OtpSettings } from './otp-settings.js';
import { RecordKeys } from './record-keys.js';

/** How long after a verification a repeat of its code is answered with `already_verified`. */
const REPEAT_MS = 10 * MINUTE_MS;

/** One attempt to verify: the keys of its records, and the decision table (`docs/otp.md`, Answers) as a pure function. */
export class VerifyStep {
  readonly keys: readonly string[];
  private readonly recordKeys: RecordKeys;
  private readonly triesKey: string;

  constructor(
    private readonly binding: OtpBinding,
    private readonly otp: string,
    private readonly now: number,
    private readonly settings: OtpSettings,
  ) {
    this.recordKeys = new RecordKeys(binding);
    this.triesKey = this.recordKeys.tries;
    const rules = rulesFor(binding, settings.limits).filter(({ afterSuccess }) => afterSuccess);
    this.keys = [this.recordKeys.challenge, this.triesKey, ...rules.map(({ key }) => key)];
  }

  /** Returns the events that an outcome publishes. */
  eventsOf(outcome: VerifyOutcome): readonly NewEvent[] {
    return codeEvents({ ...this.binding, at: this.now }, outcome);
  }

  readonly decide = (seen: SeenRecords): RecordStep<VerifyOutcome> => {
    const step = this.stepFor(seen);
    return { ...step, events: this.eventsOf(step.result) };
  };

  private stepFor(seen: SeenRecords): RecordStep<VerifyOutcome> {
    const { settings, now } = this;
    const record = seen.get(this.recordKeys.challenge);
    const challenge = challengeIn(record);
    if (!challenge || record?.lost || now - challenge.createdAt >= CHALLENGE_KEPT_MS) return only('not_found');
    if (!settings.codes.knows(challenge)) return only('not_found');
    const status = statusOf(challenge, settings.triesPerCode, now);
    if (status === 'expired') return only('expired');
    if (status === 'exhausted') return only('exhausted');
    if (status === 'verified') return only(this.isRepeat(challenge) ? 'already_verified' : 'spent');
    const opens = opensAt(this.wrongTries(seen), settings.limits.wrongTries, now);
    if (opens > now) return locked(opens - now);
    return settings.codes.matches(challenge, this.binding, this.otp)
      ? this.succeed(challenge, seen)
      : this.fail(challenge, seen);
  }

  private isRepeat(challenge: Challenge): boolean {
    const recent = this.now - (challenge.verifiedAt ?? 0) < REPEAT_MS;
    return this.settings.codes.matches(challenge, this.binding, this.otp) && recent;
  }

  private succeed(challenge: Challenge, seen: SeenRecords): RecordStep<VerifyOutcome> {
    const changes = new Map([[this.recordKeys.challenge, this.kept({ ...challenge, verifiedAt: this.now }, seen)]]);
    if (seen.has(this.triesKey)) {
      changes.set(this.triesKey, { state: { wrong: [] }, messages: [], expiresAt: this.now });
    }
    for (const { key, afterSuccess } of rulesFor(this.binding, this.settings.limits)) {
      const record = afterSuccess?.(seen.get(key)?.state, phoneOf(this.binding.number), this.now);
      if (record) changes.set(key, { ...record, messages: [] });
    }
    return { result: { kind: 'verified' }, changes };
  }

  private fail(challenge: Challenge, seen: SeenRecords): RecordStep<VerifyOutcome> {
    const { triesPerCode, limits } = this.settings;
    const tries = challenge.tries + 1;
    const changes = new Map([[this.recordKeys.challenge, this.kept({ ...challenge, tries }, seen)]]);
    if (limits.wrongTries.length > 0) {
      const wrong = withOneMore(this.wrongTries(seen), limits.wrongTries, this.now);
      const expiresAt = this.now + longestOf(limits.wrongTries);
      changes.set(this.triesKey, { state: { wrong }, messages: [], expiresAt });
    }
    return { result: { kind: 'wrong', triesLeft: triesPerCode - tries }, changes };
  }

  private wrongTries(seen: SeenRecords): TimeLog {
    const state = seen.get(this.triesKey)?.state;
    return (state as { readonly wrong: TimeLog } | undefined)?.wrong ?? [];
  }

  private kept(challenge: Challenge, seen: SeenRecords): PolicyRecord {
    const messages = seen.get(this.recordKeys.challenge)?.messages ?? [];
    return { state: challenge, messages, expiresAt: this.settings.keptUntil(challenge) };
  }
}

function only(kind: Exclude<VerifyOutcome['kind'], 'wrong' | 'locked'>): RecordStep<VerifyOutcome> {
  return { result: { kind }, changes: new Map() };
}

function locked(ms: number): RecordStep<VerifyOutcome> {
  return { result: { kind: 'locked', retryAfter: Math.ceil(ms / 1000) }, changes: new Map() };
}
