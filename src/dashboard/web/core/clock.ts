/** How far the server's clock is ahead of this browser's, in milliseconds; what is less than a minute does not count. */
let ahead = 0;

/** Learns the server's time from an answer, which says it to the second. */
export function hearTime(response: Response): void {
  const told = Date.parse(response.headers.get('date') ?? '');
  const difference = told - Date.now();
  if (!Number.isNaN(told)) ahead = Math.abs(difference) < 60_000 ? 0 : difference;
}

/** The server's time, in milliseconds: its moments are compared with it, as a browser's clock may be minutes off. */
export function serverNow(): number {
  return Date.now() + ahead;
}
