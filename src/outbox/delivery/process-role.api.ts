export const PROCESS_ROLES = ['all', 'api', 'worker', 'sessions'] as const;

/**
 * The messages that a process delivers. `all`: all; `api`: none; `worker`: those that need no linked number, such as
 * SMS; `sessions`: those of the linked numbers that are connected in it. Every role accepts messages where its routes
 * are mounted.
 */
export type ProcessRole = (typeof PROCESS_ROLES)[number];
