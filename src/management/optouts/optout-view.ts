import { isoOf } from '../../common/phone-numbers/iso.js';
import { shownNumber } from '../../sms/opt-out/erased-numbers.js';
import type { OptOut } from '../../sms/opt-out/opt-out-store.js';
import type { OptOutView } from './optout.api.js';

export function optOutView({ id, number, signature, source, at }: Omit<OptOut, 'accountId'>): OptOutView {
  return { id, number: shownNumber(number), signature, source, added_at: isoOf(at) };
}
