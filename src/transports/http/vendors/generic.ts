import {
  any,
  group,
  integer,
  list,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
  text,
  unread,
} from '../../../common/options.js';
import { isCharset } from '../../../common/text/charset.js';
import type { CallbackCharset } from '../callback-fields.js';
import { carrierName, type HttpVendor, type VendorCallback, type VendorErrors } from '../vendor.js';

const fn = any((given, place) => (typeof given === 'function' ? given : place.refuse('must be a function')));

const fieldName = text(/^[\x21-\x7e]{1,100}$/, 'the name of a field');

const VENDOR = group({
  name: carrierName,
  baseUrl: text(/^[\x20-\x7e]{1,500}$/, 'a URL'),
  idempotent: unread,
  token: unread,
  request: fn,
  read: fn,
  ownIds: fn.or(undefined),
  maxSegments: integer(1, 255).or(undefined),
  errors: optionalGroup({
    permanent: unread,
    temporary: unread,
    throttled: unread,
    account: unread,
    unclear: unread,
  } satisfies OptionsOf<VendorErrors>),
  callback: group({
    isGenuine: unread,
    needsSecret: unread,
    byGet: unread,
    charset: optionalGroup({
      field: fieldName.or(undefined),
      of: list(fieldName, 'names of fields').or(undefined),
      fallback: any((given, place) => {
        return typeof given === 'string' && isCharset(given) ? given : place.refuse('must be the name of a charset');
      }).or(undefined),
    } satisfies OptionsOf<CallbackCharset>),
    echoesReference: unread,
    read: fn,
    answer: unread,
  } satisfies OptionsOf<VendorCallback>).or(undefined),
} satisfies OptionsOf<HttpVendor>);

/**
 * Describes a gateway of the host's choice, in the same form as the shipped vendors.
 *
 * @example
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
 *   read: ({ json }) => ({ ids: [idOf(valueAt(json, 'id')) ?? ''], code: textOf(valueAt(json, 'error')) }),
 *   errors: { permanent: ['bad_number'], account: ['no_credit'] },
 * });
 * ```
 * For a gateway without ids, `read` returns `accepted: true`, and the callback URL contains `receiptReference`.
 * `docs/carriers.md` has Kannel as an example.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function generic(description: HttpVendor): HttpVendor {
  VENDOR.read(description, new OptionPlace('generic'));
  return description;
}
