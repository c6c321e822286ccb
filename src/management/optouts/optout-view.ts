import { isoOf } from '../../common/phone-numbers/iso.js';
import { shownNumber } from '../../sms/opt-out/erased-numbers.js';
import type { OptOut, OptOutSource } from '../../sms/opt-out/opt-out-store.js';

/** An entry of the suppression list as the API gives it. */
export interface OptOutView {
  readonly id: string;
  /** Stars for a number that was erased, whose entry holds on. */
  readonly number: string;
  readonly signature: string;
  readonly source: OptOutSource;
  readonly added_at: string;
}

/** A page of entries, the newest first. */
export interface OptOutPage {
  readonly items: readonly OptOutView[];
  readonly next_cursor: string | null;
}

export function optOutView({ id, number, signature, source, at }: Omit<OptOut, 'accountId'>): OptOutView {
  return { id, number: shownNumber(number), signature, source, added_at: isoOf(at) };
}
