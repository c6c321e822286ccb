import { codeAt, textAt, wordAt } from './fields.js';
import type { HookKind } from './hook-kind.js';
import { basicPassword, hasEqual, hasSecret, isPlainSecret } from './proofs.js';

/**
 * The generic provider of authentik's stage for SMS (https://docs.goauthentik.io/add-secure-apps/flows-stages/stages/authenticator_sms).
 * Without a mapping of its own it sends `{ From, To, Body, Message }`: `Body` is the code, and `Message` the text in the user's
 * language. The secret is its bearer token, or the password of its Basic authentication.
 */
export const authentik: HookKind = {
  secretOf: (random) => random.toString('base64url'),

  isSecret: isPlainSecret,

  isAuthentic({ headers: { authorization } }, secrets) {
    const password = basicPassword(authorization);
    return password === undefined ? hasSecret(authorization, secrets) : hasEqual([password], secrets);
  },

  read(body) {
    const number = wordAt(body, 'To');
    const code = codeAt(body, 'Body');
    const text = textAt(body, 'Message');
    if (number === undefined || (code === undefined && text === undefined)) return undefined;
    return { number, code, text };
  },
};
