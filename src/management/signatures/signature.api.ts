import { SIGNATURE_STATUSES } from '../../accounts/account.api.js';
import { flag, moment, nullable, object, oneOf, page, text, yes } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

export const NAME = text('1–11 characters of `A-Za-z0-9 ._&-` with a letter, or 3–15 digits.', {
  example: 'MA BOUTIQUE',
});

/** A sender name in answers of the API. Moments are ISO 8601. */
export const SignatureView = object('A sender name.', {
  name: NAME,
  status: oneOf(SIGNATURE_STATUSES, 'Only a verified name can be used.'),
  reason: nullable(text('Why it was rejected.')),
  created_at: nullable(moment('When the account asked for it. Null for a default name.')),
  decided_at: nullable(moment('When it was verified or rejected.')),
  is_default: flag('Whether every account may use it.', { example: false }),
});
export interface SignatureView extends TypeOf<typeof SignatureView> {}

/** A page of sender names: the default ones first, then those of the account by name. */
export const SignaturePage = page<SignatureView>('Sender names.', { Signature: SignatureView });
export interface SignaturePage extends TypeOf<typeof SignaturePage> {}

/** The answer to a removal. */
export const SignatureRemoved = object('The name is removed.', { success: yes });
