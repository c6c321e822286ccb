/** At most `count` in any stretch of `seconds`. */
export interface OtpWindow {
  /** 1 to 10 000. */
  readonly count: number;
  /** 1 to 7 776 000 (90 days). */
  readonly seconds: number;
}

/** Times in milliseconds since the epoch, oldest first. */
export type TimeLog = readonly number[];

/**
 * The earliest time, `now` or later, at which all windows have room for one more. Never more than the longest window away:
 * what a clock that was set back since shows in the future counts as of now.
 */
export function opensAt(log: TimeLog, windows: readonly OtpWindow[], now: number): number {
  let open = now;
  for (const { count, seconds } of windows) {
    const inTheWay = log.at(-count);
    if (inTheWay !== undefined) open = Math.max(open, Math.min(inTheWay, now) + seconds * 1000);
  }
  return open;
}

/** The log with one more, without what no window looks at any longer. */
export function withOneMore(log: TimeLog, windows: readonly OtpWindow[], now: number): TimeLog {
  const most = Math.max(0, ...windows.map(({ count }) => count));
  if (most === 0) return [];
  const oldest = now - longestOf(windows);
  return [...log, now]
    .sort((a, b) => a - b)
    .filter((at) => at > oldest)
    .slice(-most);
}

/** The longest of the windows, in milliseconds. */
export function longestOf(windows: readonly OtpWindow[]): number {
  return Math.max(0, ...windows.map(({ seconds }) => seconds)) * 1000;
}
