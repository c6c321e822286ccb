import { ACCOUNT_ROLES, OPERATOR_ROLES } from '../../accounts/keys/permissions.js';
import { count, EXAMPLE, moment, nullable, object, oneOf, text, yes } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

/** Values that examples share. */
export const EXAMPLE_SECRET = 'nLw4hVbG3sXkq0Ue7yTJm5ZrC1oPdA8fQi2KtYvH6EM';
export const EXAMPLE_TOKEN = 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2lnbmF0dXJl';

/** How long an access token is valid, in seconds. */
export const ACCESS_SECONDS = 600;

// The descriptions that requests and responses share.
export const role = (description: string) => oneOf([...ACCOUNT_ROLES, ...OPERATOR_ROLES], description);
const account = (description: string) => nullable(text(description, { example: EXAMPLE.account }));

/** The user in the answers of `POST /session/exchange` and `/session/refresh`. */
export const SessionUserView = object('The user who has signed in.', {
  subject: text('The user’s name, as in the audit log.', { example: 'awa@example.com' }),
  account: account('The account. Null for the operator.'),
  role: role('The role of the user.'),
});
export interface SessionUserView extends TypeOf<typeof SessionUserView> {}

/** The answer of `POST /session/exchange` and `/session/refresh`. */
export const UserSessionView = object('An open session. A cookie comes with it.', {
  access_token: text('The token for `Authorization: Bearer`. Keep it in memory only.', { example: EXAMPLE_TOKEN }),
  expires_in: count('For how many seconds the token is valid.', { minimum: 1, example: ACCESS_SECONDS }),
  user: SessionUserView,
});
export interface UserSessionView extends TypeOf<typeof UserSessionView> {}

/** The answer of `POST /session/end`. */
export const SessionEnded = object('The session is over.', { success: yes });
export interface SessionEnded extends TypeOf<typeof SessionEnded> {}

/** The answer of `POST /manage/links`. */
export const LinkView = object('A one-time link.', {
  url_fragment: nullable(
    text('The fragment to append to the address of a page that exchanges it. Null in a repeat.', {
      example: `#link=${EXAMPLE_SECRET}`,
    }),
  ),
  expires_at: moment('Until when it is valid.', 10 * 60_000),
});
export interface LinkView extends TypeOf<typeof LinkView> {}
