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
  // SHA-1 in base64: what is none needs no look at the body.
  if (signature === undefined || !/^[A-Za-z0-9+/]{27}=$/.test(signature)) return false;
  const bodyHash = content.query.get('bodySHA256');
  if (bodyHash !== null) {
    const hash = createHash('sha256').update(body).digest('hex');
    if (!sameText(bodyHash.toLowerCase(), hash)) return false;
  } else if (!content.isForm) {
    return false;
  }
  const fields = content.isForm ? fieldsOf(content.form) : '';
  return spellings(url).some((spelling) => sameText(signature, sign(spelling + fields, authToken)));
}

function sign(data: string, authToken: string): string {
  return createHmac('sha1', authToken).update(data, 'utf8').digest('base64');
}

/** Names in order of their characters; several values of one name in order and each once. */
function fieldsOf(form: URLSearchParams): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of form) {
    const same = values.get(name) ?? new Set();
    values.set(name, same.add(value));
  }
  return [...values.keys()]
    .sort()
    .map((name) =>
      [...(values.get(name) ?? [])]
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
