import { MessagingClient } from '../../../client/index.js';
import { ManagementClient } from '../../../client/manage/index.js';
import { CLIENT_OPTIONS } from './client-options.js';
import { chosenAccount } from './router.js';
import { userToken } from './session.js';

interface Clients {
  readonly account: string | undefined;
  readonly messaging: MessagingClient;
  readonly manage: ManagementClient;
}

let made: Clients | undefined;

/** The clients for the account that an operator looks at; for a user of an account they need no name. */
function clients(): Clients {
  const account = chosenAccount();
  if (made === undefined || made.account !== account) {
    const options = { ...CLIENT_OPTIONS, token: userToken, account };
    made = { account, messaging: new MessagingClient(options), manage: new ManagementClient(options) };
  }
  return made;
}

/** Messages, events and webhooks of the account on the screen. */
export function messaging(): MessagingClient {
  return clients().messaging;
}

/** Keys, names and books of the account on the screen, and what operators do. */
export function manage(): ManagementClient {
  return clients().manage;
}
