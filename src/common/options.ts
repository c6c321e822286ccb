/**
 * The options of a call as they were given. A name that nobody reads is refused: `{ manager }` in the place of
 * `{ host: { manager } }`, or `{ ref }` in that of `{ reference }`, would be passed over in silence, and the call be outside of
 * the host's transaction, or a posting made twice.
 *
 * @param what of which call they are, for the sentence: `a send` for instance
 * @throws TypeError with a sentence that names it
 */
export function knownCallOptions<T extends object>(
  what: string,
  options: T,
  ...names: readonly (keyof T & string)[]
): T {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.some((each) => each === name)) continue;
    const hint = name === 'manager' ? '; a transaction of yours is given as { host: { manager } }' : '';
    throw new TypeError(`Option ${name} of ${what} is not known; there are ${names.join(', ')}${hint}.`);
  }
  return options;
}

/**
 * A wrong value as the sentence about an option shows it: a text in quotes, so that "5" is not taken for 5. Of what may be
 * large, or hold a secret, only what it is.
 */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Some of these; what is undefined is left out. */
export type SomeOf<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** All of these: nothing is left out, or undefined. */
export type AllOf<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** What is there, so that an option which is named but undefined does not hide what it would stand above. */
export function withoutUndefined<T extends object>(values: SomeOf<T>): Partial<AllOf<T>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<AllOf<T>>;
}

/** Whether something is an object with fields: no list, and not null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
