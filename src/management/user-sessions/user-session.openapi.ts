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
      'The sign-in of people in a browser. The answer has an access token for `Authorization: Bearer`. A cookie, which only these routes use, gives new tokens. Requests from pages of other sites are refused.',
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
      description: 'Give either the secret of a one-time link, or credentials of the application itself.',
      body: {
        name: 'ExchangeSession',
        description: 'The secret or the credentials of the user.',
        ...fieldsOf(ExchangeBody, {
          token: text('The secret of a one-time link, which this uses up.', { example: EXAMPLE_SECRET }),
          credentials: { type: 'object', description: 'Credentials in the form that the application itself accepts.' },
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
        'The cookie authenticates the request and is replaced. The old cookie stays valid for ten seconds. If somebody uses it later, the session ends.',
      answer: { schema: 'Session' },
      errors: ['error.session_ended'],
    },
    end: {
      operationId: 'endSession',
      summary: 'Sign out',
      description:
        'The session of the cookie ends, with its tokens and streams. Without a cookie, the session of the access token ends.',
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
      description: 'Only this answer has the secret. A repeat under the same Idempotency-Key has null in its place.',
      body: {
        name: 'CreateLink',
        description: 'The user whom the link lets in.',
        ...fieldsOf(CreateLinkBody, {
          account: text('The account. Leave it out for the roles of the operator.', { example: EXAMPLE.account }),
          role: role('The role of the user.'),
          subject: text('The user’s name in the audit log. Default: the id of the link.', {
            minLength: 1,
            maxLength: 128,
            example: 'awa@example.com',
          }),
          minutes: count('How many minutes the link is valid.', { minimum: 1, maximum: 1440, default: 10 }),
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
