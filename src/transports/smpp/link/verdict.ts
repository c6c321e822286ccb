import type { SubmitOutcome } from '../session/submit-outcome.js';
import { statusClass, statusCode } from '../status-class.js';

/** What is to be done after a part was submitted. `code` is the carrier's. */
export type SubmitVerdict =
  | { readonly kind: 'taken'; readonly id: string }
  /** The same part once more on a link, as soon as may be. */
  | { readonly kind: 'again'; readonly error: string; readonly code?: string; readonly slower: boolean }
  /** The same part once more, but not at once. */
  | { readonly kind: 'later'; readonly error: string; readonly code?: string }
  /** The message is to be tried again some other time. */
  | { readonly kind: 'retry'; readonly error: string; readonly code?: string }
  | { readonly kind: 'refused'; readonly error: string; readonly code?: string }
  | { readonly kind: 'unknown'; readonly error: string };

/** How often a refusal that says nothing clear is taken for a passing one. */
const FEW_TRIES = 3;

/** Where a part stands. */
export interface PartStanding {
  /** 1 for the message's first attempt. */
  readonly attempt: number;
  /** Earlier parts of the message were taken: it cannot start again. */
  readonly begun: boolean;
  /** How often this part was refused for a while or without a clear reason, this time included. */
  readonly refusals: number;
}

/** Judges one outcome. A message that has begun is carried on as long as that makes sense; one that has not goes back. */
export function verdictOn(outcome: SubmitOutcome, { attempt, begun, refusals }: PartStanding): SubmitVerdict {
  if (outcome.kind === 'unknown') return { kind: 'unknown', error: 'smpp: no answer' };
  if (outcome.kind === 'not-sent') return { kind: 'again', error: 'smpp: no link', slower: false };
  if (outcome.kind === 'unsendable') return { kind: 'refused', error: 'smpp: unsendable' };
  if (outcome.status === 0) return { kind: 'taken', id: outcome.messageId };
  const code = statusCode(outcome.status);
  const said = { error: `smpp: ${code}`, code };
  switch (statusClass(outcome.status)) {
    case 'throttled':
      return { kind: 'again', ...said, slower: true };
    case 'permanent':
      return { kind: 'refused', ...said };
    case 'temporary':
      return { kind: begun ? 'later' : 'retry', ...said };
    case 'unclear':
      if (begun ? refusals >= FEW_TRIES : attempt >= FEW_TRIES) return { kind: 'refused', ...said };
      return { kind: begun ? 'later' : 'retry', ...said };
  }
}
