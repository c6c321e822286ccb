/**
 * How soon a delivery is handed over, compared with others of its channel: `code` before everything, then `high`, `normal` and
 * `bulk`, which share 8 : 4 : 2, so that none of them starves. Only one-time passcodes are `code`.
 */
export type Priority = keyof typeof RANKS;

/** As `messaging_recipient.priority` stores them: smallest first, 0 where nothing is said. */
export const RANKS = { code: -2, high: -1, normal: 0, bulk: 1 } as const;

/** All priorities, the first to be handed over first. */
export const PRIORITIES = Object.keys(RANKS) as readonly Priority[];

/** The priorities that a caller may ask for. */
export const SEND_PRIORITIES = ['high', 'normal', 'bulk'] as const satisfies readonly Priority[];

/** A priority that a caller may ask for. */
export type SendPriority = (typeof SEND_PRIORITIES)[number];
