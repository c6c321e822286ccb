import { MessagingError, StorageUnavailableError } from '../../../src/common/errors.js';
import type {
  AcceptedCredentials,
  GivenCredentials,
  MsgappCall,
  MsgappCallAnswer,
} from '../../../src/msgapp/msgapp-transport.js';
import { SandboxMsgappTransport } from '../../../src/sandbox/sandbox-msgapp-transport.js';

/**
 * The sandbox with an app named `app` that calls, and that looks at credentials. The contents of a call or of the token decide how
 * it ends.
 */
export class CallingMsgapp extends SandboxMsgappTransport {
  override readonly callbacks = new Map([
    [
      'app',
      ({ headers, body }: Pick<MsgappCall, 'headers' | 'body'>) =>
        endOf(headers['x-words'] ?? Buffer.from(body).toString()),
    ],
  ]);

  override async acceptCredentials({
    phone_number_id: field,
    access_token: token,
  }: GivenCredentials): Promise<AcceptedCredentials> {
    if (token === 'missing') throw new MessagingError('error.field_missing', { field: 'access_token' });
    if (token === 'refused') throw new MessagingError('error.credentials_refused');
    if (field === 'invalid') throw new MessagingError('error.field_invalid', { field: 'phone_number_id' });
    return { address: 'app', credentials: [] };
  }
}

async function endOf(said: string): Promise<MsgappCallAnswer> {
  if (said === 'away') throw new StorageUnavailableError('no connection');
  if (said === 'fault') throw new Error('a fault');
  if (said === 'slow') await new Promise(() => undefined);
  return { status: Number(said) as 200 };
}
