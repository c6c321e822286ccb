import { EXAMPLE, text } from '../schemas/builders.js';

const TIME = 'ISO 8601: a day (UTC), or a time with its zone.';

/** The parameters of a page. */
export const PAGE = {
  limit: {
    default: 50,
    description: 'The largest number of items on the page. A page of long items has fewer, about 1 MB of them.',
  },
  cursor: 'The `next_cursor` of the previous page. Default: the first page.',
};

/** The parameters of a listing's period. */
export function periodFilters(of: string) {
  return {
    since: text(`Only ${of} at this time or later, ISO 8601.`, { example: EXAMPLE.moment }),
    until: text(`Only ${of} before this time, ISO 8601.`, { example: EXAMPLE.moment }),
  };
}

/** The parameters of a listing of messages, whatever their channel. */
export const MESSAGE_FILTERS = {
  ...PAGE,
  metadata: {
    description:
      'Only messages with this metadata: one parameter `metadata.<key>=<value>` for each key, all of which must match.',
    example: { 'metadata.order': '4711' },
  },
  since: `Only messages accepted at this time or later. ${TIME}`,
  until: `Only messages accepted before this time. ${TIME}`,
  scheduled:
    '`true`: only messages that wait for their `send_at`, the next one first. Besides it only `limit` and `cursor` may be given.',
};

/** Explains that some filters make pages shorter. */
export const shortPages = (filters: string): string =>
  `With ${filters}, a page may have fewer items than \`limit\`, even none, although there are more: continue until \`next_cursor\` is null.`;

/** The fields of a send that say when it is handed over. */
export const SCHEDULE_FIELDS = {
  send_at:
    'The earliest moment of the hand-over: RFC 3339 with an offset or `Z`, at most 180 days ahead. Up to 60 seconds in the past counts as now. Default: at once.',
  valid_for:
    'Seconds from `send_at`, or else from the acceptance. A recipient that is not handed over by then is `failed` with the error `expired`, and its units are refunded. Default: no limit.',
};
