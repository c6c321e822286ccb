import type { GuardRecord } from '../outbox/guard.js';

/** Which rule stood in the way of a code; `country` is the list of allowed countries, the others are limits. */
export type OtpRule =
  | 'country'
  | 'cooldown'
  | 'sends'
  | 'sends_per_number'
  | 'sends_everywhere'
  | 'prefix_breaker'
  | 'country_breaker'
  | 'spend_cap';

/** The send of a code that rules judge. */
export interface CodeSend {
  readonly number: string;
  readonly units: number;
  /** False: a code that is pending is sent once more. */
  readonly fresh: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** One limit on sends with what it remembers, in a record of its own. Pure. */
export interface SendRule<S extends object = object> {
  readonly name: OtpRule;
  /** Its record. */
  readonly key: string;
  /** When the send may happen: at its `now`, or later. Milliseconds since the epoch. */
  opensAt(state: S | undefined, send: CodeSend): number;
  /** What is remembered of the send. */
  afterSend(state: S | undefined, send: CodeSend): Pick<GuardRecord, 'expiresAt'> & { readonly state: S };
  /** What is remembered after the number was verified; left out: nothing of it matters. */
  afterSuccess?(
    state: S | undefined,
    number: string,
    now: number,
  ): Pick<GuardRecord, 'expiresAt'> & { readonly state: S };
}
