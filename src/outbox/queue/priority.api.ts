/**
 * How soon a delivery is handed over, compared with others of its channel. `code` comes before everything. `high`,
 * `normal` and `bulk` then share 8 : 4 : 2, so that none of them waits for ever. Only one-time passcodes have the
 * priority `code`.
 */
export type Priority = keyof typeof RANKS;

/** The numbers that `messaging_recipient.priority` stores. The smallest comes first; 0 is the default. */
export const RANKS = { code: -2, high: -1, normal: 0, bulk: 1 } as const;

/** All priorities, in the order in which they are handed over. */
export const PRIORITIES = Object.keys(RANKS) as readonly Priority[];

/** The priorities that a caller may give. */
export const SEND_PRIORITIES = ['high', 'normal', 'bulk'] as const satisfies readonly Priority[];

/** A priority that a caller may give. */
export type SendPriority = (typeof SEND_PRIORITIES)[number];
