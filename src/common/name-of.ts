/** What was thrown, in words that may be logged: an error's own message may hold what must not be. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'something';
}
