export const ACCOUNT_STATES = ['active', 'suspended', 'closed'] as const;

/**
 * The state of an account. A `suspended` account may read and verify codes, but not send, connect numbers or make
 * endpoints. The keys of a `closed` account are refused too.
 */
export type AccountState = (typeof ACCOUNT_STATES)[number];
