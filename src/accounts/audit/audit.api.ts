import { EXAMPLE, identifier, moment, nullable, object, oneOf, page, text } from '../../schemas/builders.js';
import { schemaOf, type TypeOf } from '../../schemas/schema.js';

/**
 * The kinds of authors. `user`: a user of the account; `operator`: a user of the operator; `key`: a program with an API
 * key; `host`: the host's own code.
 */
export const AUTHOR_KINDS = ['user', 'operator', 'key', 'host'] as const;

/** The kinds of changes that the audit log records. */
export const AUDIT_ACTIONS = [
  'account.created',
  'account.renamed',
  'account.suspended',
  'account.resumed',
  'account.closed',
  'key.created',
  'key.rotated',
  'key.revoked',
  'signature.registered',
  'signature.removed',
  'signature.verified',
  'signature.rejected',
  'balance.topped_up',
  'balance.adjusted',
  'optout.added',
  'optout.removed',
  'template.created',
  'template.changed',
  'template.removed',
  'webhook.created',
  'webhook.changed',
  'webhook.removed',
  'webhook.secret_rotated',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.replayed',
  'message.canceled',
  'message.rescheduled',
  'sms.requested',
  'login_hook.created',
  'login_hook.removed',
  'login_hook.secret_rotated',
  'login_hook.enabled',
  'login_hook.disabled',
  'login_hook.tested',
  'campaign.created',
  'campaign.removed',
  'campaign.imported',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.completed',
  'campaign.canceled',
  'number.connect_requested',
  'number.unlinked',
  'route.rested',
  'route.resumed',
  'queue.paused',
  'queue.resumed',
  'ledger.checked',
  'link.created',
  'link.revoked',
  'session.started',
  'session.ended',
  'text.read',
] as const;

/** The action of an entry of the audit log. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

const fields = (description: string) =>
  nullable(
    schemaOf<Readonly<Record<string, unknown>>>({
      type: 'object',
      description,
      additionalProperties: {},
      example: { status: 'pending' },
    }),
  );

/** A change as the API returns it. */
export const AuditView = object('A change.', {
  id: identifier('Of the entry.', '4711'),
  at: moment('When it was made.'),
  by: object('Who made it.', {
    kind: oneOf(
      AUTHOR_KINDS,
      'A user of the account, a user of the operator, a program with an API key, or the host’s own code.',
    ),
    id: nullable(text('The subject of a user, or the public part of a key.')),
    address: nullable(text('The address that the request came from.', { example: '203.0.113.7' })),
  }),
  action: oneOf(AUDIT_ACTIONS, 'What was done.'),
  target: text('What was changed: an id, a name, a masked number.', { example: 'MA BOUTIQUE' }),
  account: nullable(identifier('The account; null if the change is of no particular account.', EXAMPLE.account)),
  before: fields('The changed fields as they were before; null if there were none.'),
  after: fields('The changed fields as they are now; null if there are none.'),
});
export interface AuditView extends TypeOf<typeof AuditView> {}

/** A page of changes, the newest first. */
export const AuditPage = page<AuditView>('Changes, the newest first.', { AuditEntry: AuditView });
export interface AuditPage extends TypeOf<typeof AuditPage> {}
