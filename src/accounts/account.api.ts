export const ACCOUNT_STATES = ['active', 'suspended', 'closed'] as const;

/**
 * The state of an account. A `suspended` account may read and verify codes, but not send, connect numbers or make
 * endpoints. The keys of a `closed` account are refused too.
 */
export type AccountState = (typeof ACCOUNT_STATES)[number];

export const SIGNATURE_STATUSES = ['pending', 'verified', 'rejected'] as const;

/** The state of a sender name. */
export type SignatureStatus = (typeof SIGNATURE_STATUSES)[number];
