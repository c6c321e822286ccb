/**
 * The options of a send as they were given. A name that nobody reads is refused: `{ manager }` in the place of
 * `{ host: { manager } }` would be passed over in silence, and the send be outside of the host's transaction.
 *
 * @throws TypeError with a sentence that names it
 */
export function knownSendOptions<T extends object>(options: T, ...names: readonly (keyof T & string)[]): T {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.some((each) => each === name)) continue;
    const hint = name === 'manager' ? '; a transaction of yours is given as { host: { manager } }' : '';
    throw new TypeError(`Option ${name} of a send is not known; there are ${names.join(', ')}${hint}.`);
  }
  return options;
}
