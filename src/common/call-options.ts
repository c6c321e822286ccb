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
