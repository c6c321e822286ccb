import { MessagingError } from '../../common/errors.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import type { AcceptedCredentials, GivenCredentials } from '../../msgapp/msgapp-transport.js';
import type { SessionCredentials } from '../../msgapp/sessions/session-credentials.js';
import { textOf, valueAt } from '../http/json-values.js';
import type { CloudCredentials, GraphClient } from './graph-client.js';

/** The credentials of a linked number, as they are stored. */
export interface LinkedCloudNumber extends CloudCredentials {
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** The place of the credentials among those of a session. */
const KIND = 'whatsapp-cloud';
const ID = 'number';

/** How long a caller should wait until it tries again, in seconds. */
const RETRY_S = 5;

/**
 * Reads the number at Meta, which proves that the token may use it.
 * @throws MessagingError `error.field_missing`, `error.field_invalid`, `error.credentials_refused`, `error.storage_unavailable`
 */
export async function acceptCredentials(
  client: GraphClient,
  { phone_number_id: phoneNumberId, access_token: accessToken }: GivenCredentials,
): Promise<AcceptedCredentials> {
  check('phone_number_id', phoneNumberId, /^\d{1,32}$/);
  check('access_token', accessToken, /^[\x21-\x7e]{1,2000}$/);
  const outcome = await client.readNumber({ phoneNumberId, accessToken });
  if (outcome.kind === 'expired' || outcome.kind === 'refused') throw new MessagingError('error.credentials_refused');
  if (outcome.kind !== 'answered') throw new MessagingError('error.storage_unavailable', {}, RETRY_S);
  const number = textOf(valueAt(outcome.json, 'display_phone_number'))?.replaceAll(/\D/g, '');
  if (!isPhoneNumber(number)) throw new MessagingError('error.credentials_refused');
  const linked: LinkedCloudNumber = { phoneNumberId, accessToken, number };
  return { address: phoneNumberId, credentials: [{ kind: KIND, id: ID, value: JSON.stringify(linked) }] };
}

/** Returns the credentials of a session, or undefined if it has none. */
export async function readCredentials(
  credentials: Pick<SessionCredentials, 'read'>,
): Promise<LinkedCloudNumber | undefined> {
  const stored = (await credentials.read(KIND, [ID])).get(ID);
  // The cast is safe, because only `acceptCredentials` makes credentials of this kind.
  return stored === undefined ? undefined : (JSON.parse(stored) as LinkedCloudNumber);
}

function check(field: keyof GivenCredentials, value: string | undefined, pattern: RegExp): asserts value is string {
  if (value === undefined || value === '') throw new MessagingError('error.field_missing', { field });
  if (!pattern.test(value)) throw new MessagingError('error.field_invalid', { field });
}
