/** `YYMMDDhhmm`, with or without seconds (SMPP 3.4 appendix B and what is seen in the wild). */
const DATE = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/;

/**
 * When a receipt says it happened, in milliseconds since the epoch; undefined when that is no date.
 * @param offsetMinutes how far the carrier's clock is ahead of UTC
 */
export function receiptTime(date: string, offsetMinutes: number): number | undefined {
  const match = DATE.exec(date);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((each) => Number(each ?? 0));
  const time = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  // Date.UTC carries over what is too large: 31 February would be a day in March.
  const read = new Date(time);
  const isSo = read.getUTCMonth() === month - 1 && read.getUTCDate() === day && hour < 24 && minute < 60 && second < 61;
  return isSo ? time - offsetMinutes * 60_000 : undefined;
}
