import { ACCOUNT_STATES, SIGNATURE_STATUSES } from '../../../accounts/account.api.js';
import { ACCOUNT_ID, MAX_THRESHOLD } from '../../../accounts/account-rules.js';
import { LedgerView } from '../../../billing/ledger.api.js';
import { describeController, type ErrorDescription, fieldsOf } from '../../../openapi/controller-description.js';
import { invalid } from '../../../openapi/errors.js';
import { PAGE } from '../../../openapi/listings.js';
import { count, EXAMPLE, oneOf, text } from '../../../schemas/builders.js';
import {
  ChangeAccountBody,
  CreateAccountBody,
  ListAccountsQuery,
  ListSignaturesQuery,
  PostingBody,
  RejectSignatureBody,
} from '../operator.dto.js';
import {
  AccountPage,
  AccountView,
  ManagedSignaturePage,
  ManagedSignatureView,
  NAME,
  PostingView,
  THRESHOLD,
} from './managed-account.api.js';
import { ManagedAccountsController } from './managed-accounts.controller.js';

const ID_FIELD = { minLength: 1, maxLength: 64, pattern: ACCOUNT_ID.source, example: 'boutique-17' };
const REFERENCE = { minLength: 1, maxLength: 64, example: 'invoice-2026-17' };

const POSTING = (name: string, description: string, units: number) => ({
  name,
  description,
  ...fieldsOf(PostingBody, {
    units: { type: 'integer', description: 'Units.', example: units },
    reference: text('A reference is posted once. A repeat with the same values posts nothing and succeeds.', REFERENCE),
    note: text('The ledger shows it.'),
  }),
  required: ['units', 'reference'],
  examples: { 'With a reference': { units, reference: 'invoice-2026-17' } },
});

const POSTING_ERRORS: readonly ErrorDescription[] = [
  'error.units_invalid',
  ...invalid('reference', 'note'),
  'error.account_not_found',
  { code: 'error.balance_too_high', values: { max: Number.MAX_SAFE_INTEGER } },
  { code: 'error.reference_taken', values: { reference: 'invoice-2026-17' } },
];

/** OpenAPI description of the routes with which operators manage accounts (docs/management-api.md). */
export const managedAccountsOpenapi = describeController(ManagedAccountsController, () => ({
  tag: {
    name: 'Operator: accounts',
    description:
      'For users with a role of the operator: `support` reads, `finance` also posts units, `operator` may do everything.',
  },
  parameters: {
    id: { description: 'The account.', example: EXAMPLE.account },
    name: { description: 'The signature.', example: 'MY SHOP' },
  },
  schemas: {
    LedgerEntry: LedgerView,
    ManagedAccount: AccountView,
    ManagedAccountPage: AccountPage,
    Posting: PostingView,
    ManagedSignature: ManagedSignatureView,
    ManagedSignaturePage,
  },
  routes: {
    list: {
      operationId: 'listManagedAccounts',
      summary: 'List accounts, newest first',
      description:
        'With `query`, accounts whose id begins with it come first, then accounts whose name begins with it, in alphabetical order.',
      query: fieldsOf(ListAccountsQuery, {
        ...PAGE,
        query: 'Only accounts whose id or name begins with it. It is case-sensitive.',
        state: oneOf(ACCOUNT_STATES, 'Only accounts in this state.'),
      }),
      answer: { schema: 'ManagedAccountPage' },
      errors: ['error.invalid_cursor', ...invalid('state', 'query')],
    },
    create: {
      operationId: 'createManagedAccount',
      summary: 'Make an account',
      body: {
        name: 'CreateManagedAccount',
        description: 'The account.',
        ...fieldsOf(CreateAccountBody, {
          id: text('Default: the service makes an id.', ID_FIELD),
          name: text('A name for people.', NAME),
        }),
        examples: { 'A name': { name: 'Boutique' } },
      },
      idempotent: true,
      answer: { schema: 'ManagedAccount' },
      errors: ['error.account_exists', ...invalid('id', 'name')],
    },
    get: {
      operationId: 'getManagedAccount',
      summary: 'Look up an account',
      answer: { schema: 'ManagedAccount' },
      errors: ['error.account_not_found'],
    },
    change: {
      operationId: 'changeManagedAccount',
      summary: 'Change the name or the threshold of an account',
      description: 'Fields that are left out stay as they are.',
      body: {
        name: 'ChangeManagedAccount',
        description: 'The fields to change.',
        ...fieldsOf(ChangeAccountBody, {
          name: text('A name for people.', NAME),
          low_balance: count(`${THRESHOLD}; 0: never.`, { maximum: MAX_THRESHOLD }),
        }),
        examples: { 'Another name': { name: 'Boutique du marché' }, 'A threshold': { low_balance: 100 } },
      },
      answer: { schema: 'ManagedAccount' },
      errors: [
        ...invalid('name'),
        { code: 'error.field_not_integer', values: { field: 'low_balance', min: 0, max: MAX_THRESHOLD } },
        'error.account_not_found',
      ],
    },
    suspend: {
      operationId: 'suspendAccount',
      summary: 'Suspend an account',
      description:
        'Sends, connects and new endpoints are refused, in all processes within 5 seconds. Messages that were accepted before are still delivered.',
      idempotent: true,
      answer: { schema: 'ManagedAccount', examples: { Suspended: { state: 'suspended' } } },
      errors: ['error.account_not_found'],
    },
    resume: {
      operationId: 'resumeAccount',
      summary: 'Resume an account',
      description: 'This ends a suspension, or opens a closed account again.',
      idempotent: true,
      answer: { schema: 'ManagedAccount' },
      errors: ['error.account_not_found'],
    },
    close: {
      operationId: 'closeAccount',
      summary: 'Close an account',
      description:
        'This does the same as a suspension, for an account that is no longer used. The account stays readable.',
      idempotent: true,
      answer: { schema: 'ManagedAccount', examples: { Closed: { state: 'closed' } } },
      errors: ['error.account_not_found'],
    },
    topUp: {
      operationId: 'topUpAccount',
      summary: 'Add units to an account',
      body: POSTING('TopUpAccount', 'Units to add: 1 to 10^12.', 1000),
      idempotent: true,
      answer: { schema: 'Posting' },
      errors: POSTING_ERRORS,
    },
    adjust: {
      operationId: 'adjustAccount',
      summary: 'Correct the balance of an account',
      body: POSTING('AdjustAccount', 'Units to add, or with a minus sign to take away: up to 10^12.', -5),
      idempotent: true,
      answer: { schema: 'Posting' },
      errors: [...POSTING_ERRORS, 'error.insufficient_balance'],
    },
    listSignatures: {
      operationId: 'listManagedSignatures',
      summary: 'List the signatures of all accounts',
      description:
        'Signatures that wait for a decision come first, then the rejected ones, then the verified ones. Within each group the oldest come first.',
      query: fieldsOf(ListSignaturesQuery, {
        ...PAGE,
        status: oneOf(SIGNATURE_STATUSES, 'Only signatures with this status.'),
      }),
      answer: { schema: 'ManagedSignaturePage' },
      errors: ['error.invalid_cursor', ...invalid('status')],
    },
    verifySignature: {
      operationId: 'verifySignature',
      summary: 'Allow an account to use a signature',
      description: 'This also works for a signature that was rejected.',
      idempotent: true,
      answer: { schema: 'ManagedSignature', examples: { Verified: { status: 'verified' } } },
      errors: ['error.signature_not_found'],
    },
    rejectSignature: {
      operationId: 'rejectSignature',
      summary: 'Refuse a signature to an account',
      description: 'This also works for a signature that was verified.',
      body: {
        name: 'RejectSignature',
        description: 'Why.',
        ...fieldsOf(RejectSignatureBody, { reason: text('The account reads it.', { example: 'Not your brand' }) }),
        examples: { 'With a reason': { reason: 'Not your brand' } },
      },
      idempotent: true,
      answer: { schema: 'ManagedSignature', examples: { Rejected: { status: 'rejected' } } },
      errors: ['error.signature_not_found', ...invalid('reason')],
    },
  },
}));
