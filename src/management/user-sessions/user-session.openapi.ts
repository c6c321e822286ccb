import { describeController, type ErrorDescription, fieldsOf } from '../../openapi/controller-description.js';
import { invalid, STORAGE_UNAVAILABLE } from '../../openapi/errors.js';
import { count, EXAMPLE, text } from '../../schemas/builders.js';
import { LinksController } from './links.controller.js';
import { EXAMPLE_SECRET, LinkView, role, SessionEnded, UserSessionView } from './user-session.api.js';
import { UserSessionController } from './user-session.controller.js';
import { CreateLinkBody, ExchangeBody } from './user-session.dto.js';

const SIGN_IN: readonly ErrorDescription[] = [
  'error.cross_site',
  { code: 'error.session_attempts', retryAfter: 60 },
  STORAGE_UNAVAILABLE,
];

/** OpenAPI description of the sessions of users (docs/management.md). */
export const sessionOpenapi = describeController(UserSessionController, () => ({
  tag: {
    name: 'Sessions',
    description:
      'How people sign in from a browser. The answer has an access token for `Authorization: Bearer`; a cookie that only these routes get gives new ones. Requests from pages of other sites are refused.',
  },
  schemas: {
    Session: UserSessionView,
    SessionEnded,
  },
  errors: SIGN_IN,
  routes: {
    exchange: {
      operationId: 'exchangeSession',
      summary: 'Sign in',
      description: 'By the secret of a one-time link, or by credentials of the application itself: one of the two.',
      body: {
        name: 'ExchangeSession',
        description: 'What the user signs in with.',
        ...fieldsOf(ExchangeBody, {
          token: text('The secret of a one-time link, which is used by this.', { example: EXAMPLE_SECRET }),
          credentials: { type: 'object', description: 'What the application itself takes, as it wants it.' },
        }),
        examples: { 'By a link': { token: EXAMPLE_SECRET }, 'By the application': { credentials: { ticket: '4711' } } },
      },
      answer: { schema: 'Session' },
      errors: [
        'error.link_refused',
        { code: 'error.field_missing', values: { field: 'token' } },
        ...invalid('credentials'),
      ],
    },
    refresh: {
      operationId: 'refreshSession',
      summary: 'Get a new access token',
      description:
        'By the cookie, which is replaced. The cookie before is good for ten seconds more; its later use ends the session.',
      answer: { schema: 'Session' },
      errors: ['error.session_ended'],
    },
    end: {
      operationId: 'endSession',
      summary: 'Sign out',
      description:
        'The session of the cookie ends, or where there is none that of the access token, with its tokens and streams.',
      answer: { schema: 'SessionEnded' },
    },
  },
}));

/** OpenAPI description of one-time links (docs/management.md). */
export const linksOpenapi = describeController(LinksController, () => ({
  tag: { name: 'Links', description: 'Let people in once, without a password.' },
  schemas: {
    Link: LinkView,
  },
  routes: {
    create: {
      operationId: 'createLink',
      summary: 'Make a one-time link',
      description:
        'The answer has the secret, which no later one has: a repeat under the same Idempotency-Key has null.',
      body: {
        name: 'CreateLink',
        description: 'Whom the link lets in.',
        ...fieldsOf(CreateLinkBody, {
          account: text('The account; left out for the roles of the operator.', { example: EXAMPLE.account }),
          role: role('What the user may do.'),
          subject: text('Names the user in the audit log. Default: the id of the link.', {
            minLength: 1,
            maxLength: 128,
            example: 'awa@example.com',
          }),
          minutes: count('How long the link is good.', { minimum: 1, maximum: 1440, default: 10 }),
        }),
        examples: {
          'For an account': { account: EXAMPLE.account, role: 'admin' },
          'For the operator': { role: 'support' },
        },
      },
      idempotent: true,
      answer: { schema: 'Link', examples: { 'A new link': { url_fragment: `#link=${EXAMPLE_SECRET}` } } },
      errors: [
        ...invalid('role', 'subject', 'account'),
        { code: 'error.field_missing', values: { field: 'account' } },
        { code: 'error.field_not_integer', values: { field: 'minutes', min: 1, max: 1440 } },
        'error.account_not_found',
      ],
    },
  },
}));
