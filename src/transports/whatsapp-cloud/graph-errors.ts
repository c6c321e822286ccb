/**
 * What a refusal of the Graph API means for the next attempt.
 *
 * `rest`: the number sends too much; nothing was sent, and it must send nothing for a while. `retry`: nothing was sent, and a later
 * attempt may succeed. `refused`: no attempt will succeed. `expired`: the access token is no longer valid. `unclear`: the API may have
 * accepted the message.
 */
export type GraphRefusal = 'rest' | 'retry' | 'refused' | 'expired' | 'unclear';

/** The codes of the Graph API that decide. Titles and texts do not: Meta changes and removes them. */
const CODES: ReadonlyMap<number, GraphRefusal> = new Map([
  // Too many calls of the app, of the account, or messages of the number.
  [4, 'rest'],
  [80007, 'rest'],
  [130429, 'rest'],
  // The number has been reported as spam, writes to one person too often, or was registered too often.
  [131048, 'rest'],
  [131056, 'rest'],
  [133016, 'rest'],
  // The file of the message could not be read.
  [131053, 'retry'],
  // Not on the app, outside of the 24-hour window, no such template, a code for a person without a number.
  [131026, 'refused'],
  [131047, 'refused'],
  [132001, 'refused'],
  [131062, 'refused'],
  [190, 'expired'],
]);

/**
 * Returns the meaning of a refusal.
 * @param status the HTTP status of the answer
 * @param code the code in its body. Undefined if it has none
 */
export function refusalOf(status: number, code: number | undefined): GraphRefusal {
  const known = code === undefined ? undefined : CODES.get(code);
  if (known) return known;
  if (status === 401) return 'expired';
  if (status === 429) return 'rest';
  return status >= 400 && status < 500 ? 'refused' : 'unclear';
}
