import { createHash, createHmac } from 'node:crypto';
import { sameText } from '../same-text.js';
import type { UnprovenCall } from '../vendor.js';

/**
 * Whether Twilio signed a call: HMAC-SHA1 by the auth token, in base64, over the URL followed by each form field's name and
 * value in the order of the names; a JSON body is bound by its SHA-256 in the URL's `bodySHA256`.
 * Source: https://www.twilio.com/docs/usage/security#validating-requests
 */
export function isSignedByTwilio({ url, headers, body, content }: UnprovenCall, authToken: string): boolean {
  const signature = headers['x-twilio-signature'];
  if (signature === undefined) return false;
  const bodyHash = content.query.get('bodySHA256');
  if (bodyHash !== null) {
    const hash = createHash('sha256').update(body).digest('hex');
    if (!sameText(bodyHash.toLowerCase(), hash)) return false;
  } else if (content.json !== undefined) {
    return false;
  }
  const fields = fieldsOf(content.form);
  return spellings(url).some((spelling) => sameText(signature, sign(spelling + fields, authToken)));
}

function sign(data: string, authToken: string): string {
  return createHmac('sha1', authToken).update(data, 'utf8').digest('base64');
}

/** Names in order of their characters; several values of one name in order and each once. */
function fieldsOf(form: URLSearchParams): string {
  return [...new Set(form.keys())]
    .sort()
    .map((name) =>
      [...new Set(form.getAll(name))]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}

/** Twilio signs the URL sometimes with the port and sometimes without. */
function spellings(url: string): string[] {
  const [, scheme, host, port, rest] = /^(https?):\/\/([^/:?#]+|\[[^\]]+\])(:\d+)?(.*)$/s.exec(url) ?? [];
  if (scheme === undefined) return [url];
  const standard = scheme === 'https' ? ':443' : ':80';
  return [url, `${scheme}://${host}${port === undefined ? standard : ''}${rest}`];
}
