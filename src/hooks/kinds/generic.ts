import { at, codeAt, pointerNames, textAt, validityOf, wordAt } from './fields.js';
import type { HookKind } from './hook-kind.js';
import { hasEqual, hasSecret, hmacOf, isPlainSecret } from './proofs.js';

/**
 * Any system that sends JSON. The hook says where the values are (`mapping`), and how a call is proved (`proof`): by a header with
 * the secret, or by a header with the HMAC-SHA256 of the body, alone or behind `sha256=`.
 */
export const generic: HookKind = {
  secretOf: (random) => random.toString('base64url'),

  isSecret: isPlainSecret,

  isAuthentic({ headers, body }, secrets, { proof }) {
    const value = proof === null ? undefined : headers[proof.header.toLowerCase()];
    if (proof === null || value === undefined) return false;
    if (proof.kind === 'header') return hasSecret(value, secrets);
    const { encoding = 'hex' } = proof;
    const given = value.trim().replace(/^sha256=/i, '');
    return hasEqual(
      [encoding === 'hex' ? given.toLowerCase() : given],
      secrets.map((secret) => hmacOf(secret, '', body).toString(encoding)),
    );
  },

  read(body, { mapping }) {
    if (mapping === null) return undefined;
    const { number, code, text, id, valid_for } = mapping;
    const names = (pointer: string | undefined) => (pointer === undefined ? undefined : pointerNames(pointer));
    const [numberNames, codeNames, textNames, idNames, validNames] = [number, code, text, id, valid_for].map(names);
    const order = {
      number: numberNames && wordAt(body, ...numberNames),
      code: codeNames && codeAt(body, ...codeNames),
      text: textNames && textAt(body, ...textNames),
      id: idNames && wordAt(body, ...idNames),
      validFor: validNames && validityOf(at(body, ...validNames)),
    };
    if (order.number === undefined || (order.code === undefined && order.text === undefined)) return undefined;
    // A hook that names an id relies on it, so a call without one is refused.
    if (idNames !== undefined && order.id === undefined) return undefined;
    return { ...order, number: order.number };
  },
};
