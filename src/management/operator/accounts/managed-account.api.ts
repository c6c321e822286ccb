import { ACCOUNT_STATES, SIGNATURE_STATUSES } from '../../../accounts/account.api.js';
import { LedgerView } from '../../../billing/ledger.api.js';
import {
  count,
  EXAMPLE,
  flag,
  identifier,
  list,
  moment,
  nextCursor,
  nullable,
  object,
  oneOf,
  ref,
  text,
} from '../../../schemas/builders.js';
import { type TypeOf } from '../../../schemas/schema.js';

// The descriptions that requests and responses share.
export const THRESHOLD = 'The event `balance.low` comes when the balance falls below it';
export const NAME = { minLength: 1, maxLength: 128, example: 'Boutique' };
const STATE = oneOf(ACCOUNT_STATES, 'If the state is not `active`, sends, connects and new endpoints are refused.');
/** An account in the form that operators see. */
export const AccountView = object('An account.', {
  id: identifier('The account.', EXAMPLE.account),
  name: text('A name for people.', NAME),
  state: STATE,
  balance: count('The units that are left.', { example: 998 }),
  created_at: moment('When it was made.'),
  low_balance: nullable(count(`${THRESHOLD}. Null: never.`, { minimum: 1, example: 100 })),
});
export interface AccountView extends TypeOf<typeof AccountView> {}

/** A page of accounts. */
export const AccountPage = object('Accounts.', {
  items: list(ref<AccountView>({ ManagedAccount: AccountView })),
  next_cursor: nextCursor,
});
export interface AccountPage extends TypeOf<typeof AccountPage> {}

/** The answer to a top-up or an adjustment. The `id` of its entry is the reference of the posting. */
export const PostingView = object('A posting, with the balance after it.', {
  balance: count('The units that are left.'),
  entry: ref<LedgerView>({ LedgerEntry: LedgerView }),
});
export interface PostingView extends TypeOf<typeof PostingView> {}

/** A sender name in the form that operators see. */
export const ManagedSignatureView = object('A signature of an account.', {
  account: identifier('The account.', EXAMPLE.account),
  name: text('The signature.', { example: 'MY SHOP' }),
  status: oneOf(SIGNATURE_STATUSES, 'Only a verified signature can be used.'),
  reason: nullable(text('Why it was rejected.')),
  created_at: moment('When the account asked for it.'),
  decided_at: nullable(moment('When an operator decided on it. Null while it is pending.')),
  is_default: flag('Whether every account may use it.', { example: false }),
});
export interface ManagedSignatureView extends TypeOf<typeof ManagedSignatureView> {}

/** Sender names. */
export const ManagedSignaturePage = object('Signatures.', {
  items: list(ref<ManagedSignatureView>({ ManagedSignature: ManagedSignatureView })),
  next_cursor: nextCursor,
});
export interface ManagedSignaturePage extends TypeOf<typeof ManagedSignaturePage> {}
