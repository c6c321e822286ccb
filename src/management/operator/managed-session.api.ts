import { SESSION_STATUSES } from '../../events/session-status.js';
import {
  EXAMPLE,
  identifier,
  moment,
  nullable,
  object,
  oneOf,
  page,
  phoneNumber,
  text,
  yes,
} from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

/** A linked number in the form that operators see. */
export const ManagedSessionView = object('A linked number.', {
  id: identifier('The session.', EXAMPLE.session),
  account: identifier('The account.', EXAMPLE.account),
  channel: text('The channel.', { example: 'whatsapp' }),
  number: nullable(phoneNumber('The number. Null before the scan.', EXAMPLE.sender)),
  status: oneOf(SESSION_STATUSES, 'The status of the session.'),
  reason: nullable(text('Why it has this status.', { example: 'requested' })),
  created_at: moment('When it was requested.'),
  connected_at: nullable(moment('When it was first connected.')),
  updated_at: moment('When its status last changed.'),
});
export interface ManagedSessionView extends TypeOf<typeof ManagedSessionView> {}

/** Linked numbers, newest first. */
export const ManagedSessionPage = page<ManagedSessionView>('Linked numbers, the newest first.', {
  ManagedSession: ManagedSessionView,
});
export interface ManagedSessionPage extends TypeOf<typeof ManagedSessionPage> {}

/** The answer when a number is unlinked. */
export const Unlinked = object('The number is unlinked.', { success: yes });
export interface Unlinked extends TypeOf<typeof Unlinked> {}
