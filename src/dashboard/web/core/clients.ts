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

/** Returns the clients for the account that an operator looks at. Users of an account need not name it. */
function clients(): Clients {
  const account = chosenAccount();
  if (made === undefined || made.account !== account) {
    const options = { ...CLIENT_OPTIONS, token: userToken, account };
    made = { account, messaging: new MessagingClient(options), manage: new ManagementClient(options) };
  }
  return made;
}

/** Returns the client for messages, events and webhooks of the account on the screen. */
export function messaging(): MessagingClient {
  return clients().messaging;
}

/** Returns the client for keys, sender names and the ledger of the account on the screen, and for the routes of operators. */
export function manage(): ManagementClient {
  return clients().manage;
}
