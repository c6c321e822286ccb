import { phoneOf } from '../common/phone-numbers/phone-spellings.js';
import { MINUTE_MS } from '../common/time.js';
import type { CodeRule } from '../events/events.api.js';
import type {
  PolicyDecision,
  PolicyRecord,
  PolicyRefusal,
  SeenRecords,
  SendPolicy,
} from '../outbox/policy/send-policy.js';
import { type Challenge, challengeIn, opensAt, statusOf, withOneMore } from './challenge.js';
import { type CodeSend, rulesFor, type SendRule } from './fraud-rules.js';
import type { OtpSendResult } from './otp.api.js';
import type { OtpBinding } from './otp-codes.js';
import type { OtpSettings } from './otp-settings.js';
import { payloadOf } from './otp-text-source.js';
import { RecordKeys } from './record-keys.js';

/** A request to send a code. */
interface CodeRequest {
  readonly binding: OtpBinding;
  readonly messageId: string;
  readonly channel: string;
  readonly units: number;
  /** The id of the challenge if a new one is created. */
  readonly newId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The text of the reply. */
  readonly message: string;
}

/**
 * A pending code is replaced if its remaining validity is shorter than this, or than a fifth of the whole validity if a fifth is
 * shorter.
 */
const MIN_REMAINING_MS = MINUTE_MS;

/** How many messages of one code are stored. Only without limits can a code have more resends. */
const MAX_MESSAGES = 20;

/** Decides whether a code may be sent, and which code: the pending one again, or a new one. */
export class ChallengePolicy implements SendPolicy {
  readonly keys: readonly string[];
  private readonly recordKeys: RecordKeys;
  private readonly rules: readonly SendRule[];

  constructor(
    private readonly request: CodeRequest,
    private readonly settings: OtpSettings,
  ) {
    this.recordKeys = new RecordKeys(request.binding);
    this.rules = rulesFor(request.binding, settings.limits);
    this.keys = [this.recordKeys.challenge, ...this.rules.map(({ key }) => key)];
  }

  decide(seen: SeenRecords): PolicyDecision {
    const before = challengeIn(seen.get(this.recordKeys.challenge));
    const pending = this.pendingIn(seen);
    const send = this.sendOf(pending);
    const opens = this.opensAt(before, pending, seen, send);
    const last = [...opens].sort(([, a], [, b]) => b - a)[0];
    if (last && last[1] > send.now) return { refusal: this.refusal(last[0], last[1]) };
    const challenge = this.challengeAfter(before, pending);
    const messages = [
      ...(pending ? (seen.get(this.recordKeys.challenge)?.messages ?? []) : []),
      this.request.messageId,
    ];
    const changes = new Map<string, PolicyRecord>([
      [
        this.recordKeys.challenge,
        { state: challenge, messages: messages.slice(-MAX_MESSAGES), expiresAt: this.settings.keptUntil(challenge) },
      ],
    ]);
    for (const rule of this.rules) {
      changes.set(rule.key, { ...rule.afterSend(seen.get(rule.key)?.state, send), messages: [] });
    }
    return {
      changes,
      reply: this.receipt(challenge, this.resendAt(challenge, changes)),
      payload: payloadOf(challenge, this.request.binding, send.now),
    };
  }

  /** Returns the pending challenge whose code is sent again, or undefined if a new code is sent. */
  private pendingIn(seen: SeenRecords): Challenge | undefined {
    const record = seen.get(this.recordKeys.challenge);
    const challenge = challengeIn(record);
    const { codes, triesPerCode, validityMs } = this.settings;
    const { now } = this.request;
    if (!challenge || record?.lost || !codes.knows(challenge)) return undefined;
    if (statusOf(challenge, triesPerCode, now) !== 'live') return undefined;
    return challenge.expiresAt - now < Math.min(MIN_REMAINING_MS, validityMs / 5) ? undefined : challenge;
  }

  private sendOf(pending: Challenge | undefined): CodeSend {
    const { binding, units, now } = this.request;
    return { number: phoneOf(binding.number), units, fresh: pending === undefined, now };
  }

  /** Returns, for each rule, the earliest time at which it allows the send. */
  private opensAt(
    before: Challenge | undefined,
    pending: Challenge | undefined,
    seen: SeenRecords,
    send: CodeSend,
  ): readonly (readonly [CodeRule, number])[] {
    const { sends, cooldownSeconds } = this.settings.limits;
    // `lastSentAt` may be later than `now`, because concurrent sends may get the lock in another order.
    const cooledDownAt = pending ? Math.min(pending.lastSentAt, send.now) + cooldownSeconds * 1000 : send.now;
    return [
      ['cooldown', cooledDownAt],
      ['sends', opensAt(before?.sent ?? [], sends, send.now)],
      ...this.rules.map((rule) => [rule.name, rule.opensAt(seen.get(rule.key)?.state, send)] as const),
    ];
  }

  private challengeAfter(before: Challenge | undefined, pending: Challenge | undefined): Challenge {
    const { newId, now } = this.request;
    const { codes, limits, validityMs } = this.settings;
    const sent = withOneMore(before?.sent ?? [], limits.sends, now);
    if (pending) return { ...pending, lastSentAt: now, sent };
    return {
      id: newId,
      keyVersion: codes.version,
      digits: codes.digits,
      createdAt: now,
      expiresAt: now + validityMs,
      tries: 0,
      verifiedAt: null,
      lastSentAt: now,
      sent,
    };
  }

  /** Returns when the limits of the number allow the next send. It does not consider the units that the next send will cost. */
  private resendAt(challenge: Challenge, changes: ReadonlyMap<string, PolicyRecord>): number {
    const { now } = this.request;
    const { sends, cooldownSeconds } = this.settings.limits;
    const again: CodeSend = { ...this.sendOf(challenge), units: 0 };
    const times = this.rules.map((rule) => rule.opensAt(changes.get(rule.key)?.state, again));
    return Math.max(now + cooldownSeconds * 1000, opensAt(challenge.sent, sends, now), ...times);
  }

  private receipt({ id, expiresAt }: Challenge, resendAt: number): OtpSendResult {
    const { message, binding, channel } = this.request;
    return {
      success: true,
      message,
      otpID: id,
      number: binding.number,
      service: binding.service,
      channel,
      expires_at: new Date(expiresAt).toISOString(),
      resend_at: new Date(resendAt).toISOString(),
    };
  }

  private refusal(rule: CodeRule, opens: number): PolicyRefusal {
    const retryAfter = Math.ceil((opens - this.request.now) / 1000);
    return { code: 'error.otp_too_many_codes', values: { rule }, retryAfter };
  }
}
