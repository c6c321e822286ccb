/** What is wrong, in words that may be logged: the reason of our own errors, of others' the name only. */
export function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'reason' in error) return String(error.reason);
  return error instanceof Error ? `${error.name}.` : 'something.';
}
