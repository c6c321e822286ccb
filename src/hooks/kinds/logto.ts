import { codeAt, wordAt } from './fields.js';
import type { HookKind } from './hook-kind.js';
import { hasSecret, isPlainSecret } from './proofs.js';

/**
 * Logto's connector "HTTP SMS" (https://docs.logto.io/integrations/http-sms). It sends `Authorization` exactly as it is written
 * in the connector, and `{ to, type, payload: { code } }`.
 */
export const logto: HookKind = {
  secretOf: (random) => random.toString('base64url'),

  isSecret: isPlainSecret,

  isAuthentic: ({ headers }, secrets) => hasSecret(headers.authorization, secrets),

  read(body) {
    const number = wordAt(body, 'to');
    const code = codeAt(body, 'payload', 'code');
    return number === undefined || code === undefined ? undefined : { number, code };
  },
};
