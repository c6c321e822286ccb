import type { SubmitOutcome } from '../session/submit-outcome.js';
import { statusClass, statusCode } from '../status-class.js';

/** What happens after the submit of a part. `code` is the carrier's. */
type PartDecision =
  | { readonly kind: 'taken'; readonly id: string }
  /** Submit the same part again, on any link and as soon as possible. */
  | { readonly kind: 'again'; readonly error: string; readonly code?: string; readonly slower: boolean }
  /** Submit the same part again after a delay. */
  | { readonly kind: 'later'; readonly error: string; readonly code?: string }
  /** Return the message to the outbox for another attempt. */
  | { readonly kind: 'retry'; readonly error: string; readonly code?: string }
  | { readonly kind: 'refused'; readonly error: string; readonly code?: string }
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
}

/**
 * Decides what follows from the outcome of a submit. After a temporary refusal a message with accepted parts continues
 * later, and any other message returns to the outbox.
 */
export function decidePart(outcome: SubmitOutcome, { attempt, begun, refusals }: PartState): PartDecision {
  if (outcome.kind === 'unknown') return { kind: 'unknown', error: 'smpp: no answer' };
  if (outcome.kind === 'not-sent') return { kind: 'again', error: 'smpp: no link', slower: false };
  if (outcome.kind === 'unsendable') return { kind: 'refused', error: 'smpp: unsendable' };
  if (outcome.status === 0) return { kind: 'taken', id: outcome.messageId };
  const code = statusCode(outcome.status);
  const reason = { error: `smpp: ${code}`, code };
  switch (statusClass(outcome.status)) {
    case 'throttled':
      return { kind: 'again', ...reason, slower: true };
    case 'permanent':
      return { kind: 'refused', ...reason };
    case 'temporary':
      return { kind: begun ? 'later' : 'retry', ...reason };
    case 'unclear':
      if (begun ? refusals >= MAX_UNCLEAR : attempt >= MAX_UNCLEAR) return { kind: 'refused', ...reason };
      return { kind: begun ? 'later' : 'retry', ...reason };
  }
}
