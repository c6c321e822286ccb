/** A text in every form that a host’s own controller may pass on, except for a string. */
export function notStrings(text: string): readonly (readonly [what: string, value: unknown])[] {
  return [
    ['a list', [text]],
    ['a list in a list', [[text]]],
    ['a list in a list in a list', [[[text]]]],
    ['an empty list', []],
    ['a number', Number(text) || 1],
    ['a bigint', BigInt(Number(text) || 1)],
    ['a truth', true],
    ['an object', {}],
    ['an object that is a text when asked', { toString: () => text, trim: () => text, slice: () => text, length: 1 }],
    ['an object that cannot be a text', Object.create(null)],
    ['an object that throws when asked', { toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower }],
    ['a String', new String(text)],
    ['a symbol', Symbol(text)],
    ['a function', () => text],
  ];
}

function thrower(): never {
  throw new Error('Nobody may ask.');
}

/** Values that are not an input at all. */
export const NO_INPUTS: readonly unknown[] = [undefined, null, 'text', 7, true];
