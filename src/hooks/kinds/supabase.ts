import { codeAt, wordAt } from './fields.js';
import type { HookKind, HookRequest } from './hook-kind.js';
import { hasEqual, hmacOf, isRecent } from './proofs.js';

/** The fewest bytes of a key. Standard Webhooks asks for 24 to 64. */
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/**
 * Supabase Auth's hook `send_sms` (https://supabase.com/docs/guides/auth/auth-hooks/send-sms-hook). It is signed as Standard
 * Webhooks describe. Its own Go code joins the signatures of several secrets by a comma and a blank, where the specification
 * has only a blank, so both are read. Each of its three tries has a new `webhook-id`, so the id of a call is `metadata.uuid`.
 */
export const supabase: HookKind = {
  refusesInBody: true,

  secretOf: (random) => `v1,whsec_${random.toString('base64')}`,

  isSecret(given) {
    const key = keyOf(given);
    return key !== undefined && key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES;
  },

  isAuthentic({ headers, body, now }: HookRequest, secrets) {
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers;
    if (id === undefined || signatures === undefined || !isRecent(time, now)) return false;
    const given = [...signatures.matchAll(SIGNATURE)].map(([, signature = '']) => signature);
    const expected = secrets
      .flatMap((secret) => keyOf(secret) ?? [])
      .map((key) => hmacOf(key, `${id}.${time}.`, body).toString('base64'));
    return hasEqual(given, expected);
  },

  read(body) {
    // `sms.phone` is the number to use; older versions have it only in `user`.
    const number = wordAt(body, 'sms', 'phone') ?? wordAt(body, 'user', 'phone');
    const code = codeAt(body, 'sms', 'otp');
    if (number === undefined || code === undefined) return undefined;
    return { number, code, id: wordAt(body, 'metadata', 'uuid') };
  },
};

/** A signature of version 1 in a list that blanks or commas separate. */
const SIGNATURE = /(?<=^|[\s,])v1,([A-Za-z0-9+/]+={0,2})/g;

/** The key in a secret such as `v1,whsec_<base64>`; undefined if the secret is malformed. */
function keyOf(secret: string): Buffer | undefined {
  const [, encoded] = /^(?:v1,)?whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}
