import type { SubmitOutcome } from '../bind/submit-outcome.js';
import { type SmppStatusClass, statusCode, statusRule } from '../command-status.js';

/** The next step after the submit of a part. `code` is the carrier's code. */
type PartDecision =
  | { readonly kind: 'taken'; readonly id: string }
  /** Submit the same part again, on any link and as soon as possible. */
  | { readonly kind: 'again'; readonly error: string; readonly code?: string; readonly slower: boolean }
  /** Submit the same part again after a delay. */
  | { readonly kind: 'later'; readonly error: string; readonly code?: string }
  /** Return the message to the outbox for another attempt. */
  | { readonly kind: 'retry'; readonly error: string; readonly code?: string }
  | { readonly kind: 'refused'; readonly error: string; readonly code?: string }
  /** Submit the same part again after the link has bound again, or after the route has rested. */
  | { readonly kind: 'bind' | 'route'; readonly error: string; readonly code: string; readonly reason: string }
  | { readonly kind: 'unknown'; readonly error: string };

/** The number of unclear refusals after which a part is refused. */
const MAX_UNCLEAR = 3;

/** The state of a part. */
interface PartState {
  /** 1 for the message's first attempt. */
  readonly attempt: number;
  /** True: earlier parts of the message were accepted, so it cannot start again. */
  readonly begun: boolean;
  /** The number of temporary and unclear refusals of this part, including this one. */
  readonly refusals: number;
  /**
   * True: the carrier refuses this message again and again with errors of the bind or the route, while it accepts other messages
   * in between. Such an error then counts as an unclear refusal of this message.
   */
  readonly toBlame: boolean;
}

/**
 * Decides the next step after a submit. After a temporary refusal a message with accepted parts continues later, and any other
 * message returns to the outbox.
 *
 * @param own the classes that the link's option `statuses` sets
 */
export function decidePart(
  outcome: SubmitOutcome,
  { attempt, begun, refusals, toBlame }: PartState,
  own?: ReadonlyMap<number, SmppStatusClass>,
): PartDecision {
  if (outcome.kind === 'unknown') return { kind: 'unknown', error: 'smpp: no answer' };
  if (outcome.kind === 'not-sent') return { kind: 'again', error: 'smpp: no link', slower: false };
  if (outcome.kind === 'unsendable') return { kind: 'refused', error: 'smpp: unsendable' };
  // Some carriers end the id with blanks or a line end in the answer, but not in the receipt.
  if (outcome.status === 0) return { kind: 'taken', id: outcome.messageId.trim() };
  const { about, reason, unclear } = statusRule(outcome.status, own);
  const code = statusCode(outcome.status);
  const refusal = { error: `smpp: ${code}`, code };
  if (about === 'throttled') return { kind: 'again', ...refusal, slower: true };
  if (about === 'message') return { kind: 'refused', ...refusal };
  if (about !== 'later' && !toBlame) return { kind: about, ...refusal, reason };
  const isUnclear = unclear === true || toBlame;
  if (isUnclear && (begun ? refusals : attempt) >= MAX_UNCLEAR) return { kind: 'refused', ...refusal };
  return { kind: begun ? 'later' : 'retry', ...refusal };
}
