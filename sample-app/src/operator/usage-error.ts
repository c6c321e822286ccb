/** A command was called with the wrong words. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
