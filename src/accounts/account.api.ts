export const ACCOUNT_STATES = ['active', 'suspended', 'closed'] as const;

/**
 * The state of an account. `suspended`: it may read and verify codes, but not send, connect numbers or make endpoints; `closed`:
 * nor are its keys accepted.
 */
export type AccountState = (typeof ACCOUNT_STATES)[number];
