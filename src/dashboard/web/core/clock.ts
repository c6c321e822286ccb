/** How far the server's clock is ahead of this browser's, in milliseconds. Less than a minute counts as 0. */
let ahead = 0;

/** Reads the server's time from the `Date` header of an answer, which is exact to the second. */
export function readServerTime(response: Response): void {
  const time = Date.parse(response.headers.get('date') ?? '');
  const difference = time - Date.now();
  if (!Number.isNaN(time)) ahead = Math.abs(difference) < 60_000 ? 0 : difference;
}

/**
 * Returns the server's time in milliseconds. The page compares times of the API with it, because a browser's clock may be wrong
 * by minutes.
 */
export function serverNow(): number {
  return Date.now() + ahead;
}
