import { MessagingOptionsError } from '../../../common/errors.js';
import { checkedText, checkNames } from '../option-checks.js';
import type { HttpVendor } from '../vendor.js';

const NAMES: readonly (keyof HttpVendor)[] = [
  'name',
  'baseUrl',
  'idempotent',
  'token',
  'request',
  'read',
  'errors',
  'callback',
];

/**
 * A gateway that the host describes itself, in the words the shipped ones are written in:
 *
 * ```ts
 * generic({
 *   name: 'acme',
 *   baseUrl: 'https://sms.acme.example',
 *   request: ({ number, signature, text }, { reference }) => ({
 *     path: '/v1/messages',
 *     headers: { authorization: `Bearer ${key}`, 'idempotency-key': reference },
 *     json: { to: number, from: signature, text },
 *   }),
 *   idempotent: true,
 *   read: ({ json }) => ({ ids: [textOf(valueAt(json, 'id')) ?? ''], code: textOf(valueAt(json, 'error')) }),
 *   errors: { permanent: ['bad_number'], account: ['no_credit'] },
 * });
 * ```
 * @throws MessagingOptionsError
 */
export function generic(description: HttpVendor): HttpVendor {
  checkNames('generic', description, NAMES);
  checkedText(
    'generic.name',
    description.name,
    '1 to 40 lower-case letters, digits, "-" and "_"',
    /^[a-z0-9][a-z0-9_-]{0,39}$/,
  );
  checkedText('generic.baseUrl', description.baseUrl, 'a URL');
  for (const name of ['request', 'read'] as const) {
    if (typeof description[name] !== 'function')
      throw new MessagingOptionsError(`Option generic.${name} must be a function.`);
  }
  if (description.errors !== undefined) {
    checkNames('generic.errors', description.errors, ['permanent', 'temporary', 'throttled', 'account']);
  }
  if (description.callback !== undefined) {
    checkNames('generic.callback', description.callback, ['isGenuine', 'byGet', 'read', 'answer']);
    if (typeof description.callback.read !== 'function') {
      throw new MessagingOptionsError('Option generic.callback.read must be a function.');
    }
  }
  return description;
}
