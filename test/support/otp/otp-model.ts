import { DAY_MS, SECOND_MS } from '../../../src/common/time.js';
import type { VerifyOutcome } from '../../../src/otp/otp-results.js';

/** A code as the model knows it: everything that a clerk would write on a card. */
interface Card {
  readonly code: string;
  readonly madeAt: number;
  wrong: number;
  verifiedAt: number | undefined;
  /** Its messages, and whether each failed. */
  readonly failed: boolean[];
}

/**
 * Section 4 of the contract as a clerk with cards would apply it, with the standard limits: every wrong attempt and
 * every send is on a list that is never shortened, and each rule is counted anew.
 */
export class OtpModel {
  private readonly cards = new Map<string, Card>();
  private readonly sends: { readonly service: string; readonly at: number }[] = [];
  private wrongTries: number[] = [];

  /** Seconds to wait, or nothing if the code may be sent. */
  refuses(service: string, now: number): number | undefined {
    const log = this.sends.filter((send) => send.service === service).map(({ at }) => at);
    return waitFor(log, now, [5, 600 * SECOND_MS], [20, DAY_MS]);
  }

  /** Whether a send now repeats the code of the card. */
  repeats(service: string, now: number): boolean {
    const card = this.cards.get(service);
    if (!card || card.failed.every(Boolean) || card.verifiedAt !== undefined || card.wrong >= 3) return false;
    return card.madeAt + 300 * SECOND_MS - now >= 60 * SECOND_MS;
  }

  sent(service: string, code: string, now: number): void {
    this.sends.push({ service, at: now });
    if (this.repeats(service, now)) this.cards.get(service)?.failed.push(false);
    else this.cards.set(service, { code, madeAt: now, wrong: 0, verifiedAt: undefined, failed: [false] });
  }

  /** The newest message of the newest code failed for good. */
  failed(service: string): void {
    const card = this.cards.get(service);
    if (card) card.failed[card.failed.length - 1] = true;
  }

  codeOf(service: string): string | undefined {
    return this.cards.get(service)?.code;
  }

  verify(service: string, otp: string, now: number): VerifyOutcome {
    const card = this.cards.get(service);
    if (!card || now - card.madeAt >= DAY_MS || card.failed.every(Boolean)) return { kind: 'not_found' };
    const live = card.verifiedAt === undefined && card.wrong < 3 && now - card.madeAt < 300 * SECOND_MS;
    const wait = waitFor(this.wrongTries, now, [10, DAY_MS], [30, 30 * DAY_MS]);
    if (live && wait !== undefined) return { kind: 'locked', retryAfter: wait };
    if (live && otp === card.code) {
      card.verifiedAt = now;
      this.wrongTries = [];
      return { kind: 'verified' };
    }
    if (live) {
      card.wrong += 1;
      this.wrongTries.push(now);
      return { kind: 'wrong', triesLeft: 3 - card.wrong };
    }
    if (card.verifiedAt === undefined) return { kind: card.wrong < 3 ? 'expired' : 'exhausted' };
    return { kind: otp === card.code && now - card.verifiedAt < 600 * SECOND_MS ? 'already_verified' : 'spent' };
  }
}

/** Seconds until every rule allows one more, counting everything in its window; nothing if all do. */
function waitFor(
  log: readonly number[],
  now: number,
  ...rules: readonly (readonly [count: number, window: number])[]
): number | undefined {
  let wait = 0;
  for (const [count, window] of rules) {
    const inside = log.filter((at) => now - at < window);
    const blocking = inside[inside.length - count];
    if (blocking !== undefined) wait = Math.max(wait, blocking + window - now);
  }
  return wait > 0 ? Math.ceil(wait / SECOND_MS) : undefined;
}
