import { at, codeAt, textAt, validityOf, wordAt } from './fields.js';
import type { HookKind } from './hook-kind.js';
import { hasEqual, hmacOf, isPlainSecret, isRecent } from './proofs.js';

/**
 * Zitadel's HTTP provider for SMS (https://zitadel.com/docs/guides/manage/customize/notification-providers). The header
 * `ZITADEL-Signature` is `t=<unix>,v1=<hex>`, with several `v1` while a signing key is being replaced. The text is
 * `templateData.text`, ready to send; it may end with `@domain #code` for browsers. The code is `args.code`, or `args.oTP` in
 * the events of one-time passcodes. A failed call comes again later with the same body and another time.
 */
export const zitadel: HookKind = {
  bodyIsId: true,

  secretOf: (random) => random.toString('base64url'),

  isSecret: isPlainSecret,

  isAuthentic({ headers, body, now }, secrets) {
    const parts = (headers['zitadel-signature'] ?? '').split(',').map((part) => part.trim());
    const valuesOf = (name: string) => parts.flatMap((part) => (part.startsWith(name) ? part.slice(name.length) : []));
    const [time, ...others] = valuesOf('t=');
    if (others.length > 0 || !isRecent(time, now)) return false;
    const expected = secrets.map((secret) => hmacOf(secret, `${time}.`, body).toString('hex'));
    return hasEqual(
      valuesOf('v1=').map((each) => each.toLowerCase()),
      expected,
    );
  },

  read(body) {
    const number = wordAt(body, 'contextInfo', 'recipientPhoneNumber');
    const text = textAt(body, 'templateData', 'text');
    const code = codeAt(body, 'args', 'code') ?? codeAt(body, 'args', 'oTP');
    if (number === undefined || (text === undefined && code === undefined)) return undefined;
    return { number, text, code, validFor: durationOf(at(body, 'args', 'expiry')) };
  },
};

/** A duration of Go in seconds: nanoseconds as a JSON number, or a text such as `5m0s`. */
function durationOf(given: unknown): number | undefined {
  if (typeof given === 'number') return validityOf(given / 1e9);
  if (typeof given !== 'string') return undefined;
  const [, hours, minutes, seconds] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)(?:\.\d+)?s)?$/.exec(given) ?? [];
  return validityOf(Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0));
}
