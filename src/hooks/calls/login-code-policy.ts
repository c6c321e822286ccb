import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import { DAY_MS } from '../../common/time.js';
import type { CodeRule } from '../../events/events.api.js';
import { type CodeSend, outsideRules, type SendRule } from '../../otp/fraud-rules.js';
import type { OtpBinding } from '../../otp/otp-codes.js';
import type { ResolvedLimits } from '../../otp/otp-limits.js';
import type { Payload } from '../../outbox/payload.js';
import type { PolicyDecision, PolicyRecord, SeenRecords, SendPolicy } from '../../outbox/policy/send-policy.js';
import { PENDING_CODE } from './login-code.js';

/** How long the record of a code stays at most. `LoginCodeEraser` removes it much earlier. */
const RECORD_MS = 7 * DAY_MS;

/** A code of a log-in system that is to be sent. */
interface CodeRequest {
  /** The service is the id of the hook, so that each hook has limits of its own. */
  readonly binding: OtpBinding;
  readonly messageId: string;
  readonly units: number;
  /** The most units that the hook may spend in a day; null: no limit. */
  readonly dailyUnits: number | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly payload: Payload;
  readonly reply: object;
}

/** Decides whether a code that a log-in system has made may be sent: the limits of one-time passcodes, and those of its hook. */
export class LoginCodePolicy implements SendPolicy {
  readonly keys: readonly string[];
  private readonly rules: readonly SendRule[];
  private readonly pending: string;

  constructor(
    private readonly request: CodeRequest,
    limits: ResolvedLimits,
  ) {
    this.rules = outsideRules(request.binding, limits, request.dailyUnits);
    this.pending = PENDING_CODE + request.messageId;
    this.keys = this.rules.map(({ key }) => key);
  }

  decide(seen: SeenRecords): PolicyDecision {
    const { binding, messageId, units, now, payload, reply } = this.request;
    // Nobody tells us whether a code is still pending, so each one counts as a new one.
    const send: CodeSend = { number: phoneOf(binding.number), units, fresh: true, now };
    const opens = this.rules.map((rule): readonly [CodeRule, number] => [
      rule.name,
      rule.opensAt(seen.get(rule.key)?.state, send),
    ]);
    const [last] = opens.sort(([, a], [, b]) => b - a);
    if (last && last[1] > now) {
      const retryAfter = Math.ceil((last[1] - now) / 1000);
      return { refusal: { code: 'error.otp_too_many_codes', values: { rule: last[0] }, retryAfter } };
    }
    const changes = new Map<string, PolicyRecord>(
      this.rules.map((rule) => [rule.key, { ...rule.afterSend(seen.get(rule.key)?.state, send), messages: [] }]),
    );
    changes.set(this.pending, { state: {}, messages: [messageId], expiresAt: now + RECORD_MS });
    return { changes, reply, payload };
  }
}
