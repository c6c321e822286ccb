import { createHmac } from 'node:crypto';
import type { MakeCall, ToldDelivery } from '../status-callbacks/status-call.js';
import { sidOf } from './twilio-ids.js';
import { API_VERSION, deliveryErrorCode, senderOf, twilioStatus } from './twilio-message.js';

/** The call of a `StatusCallback`: a form that is signed with the API key of the send. Nothing is told without that key. */
export const twilioCall: MakeCall = ({ accountId, url }, delivery, key) => {
  if (key === undefined) return undefined;
  const fields = fieldsOf(accountId, delivery);
  return {
    url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signatureOf(key, url, fields),
    },
    body: String(new URLSearchParams(fields)),
  };
};

/** The fields of a call, as Twilio names them. */
function fieldsOf(accountId: string, delivery: ToldDelivery): Record<string, string> {
  const sid = sidOf('SM', delivery.id);
  const status = twilioStatus(delivery.status);
  const error = deliveryErrorCode(delivery.status, delivery.error);
  return {
    MessageSid: sid,
    SmsSid: sid,
    AccountSid: sidOf('AC', accountId),
    MessageStatus: status,
    SmsStatus: status,
    To: `+${delivery.number}`,
    From: senderOf(delivery.signature ?? ''),
    ApiVersion: API_VERSION,
    ...(error !== null && { ErrorCode: String(error) }),
  };
}

/** The header `X-Twilio-Signature`: HMAC-SHA1 over the URL and the sorted fields, base64. */
function signatureOf(key: string, url: string, fields: Readonly<Record<string, string>>): string {
  const text = Object.keys(fields)
    .sort()
    .map((name) => `${name}${fields[name]}`)
    .join('');
  return createHmac('sha1', key).update(`${url}${text}`).digest('base64');
}
