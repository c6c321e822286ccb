/** Whether a connection to a carrier works. */
export const LINK_STATES = ['up', 'down'] as const;

export const BREAKER_STATES = ['closed', 'open', 'probing'] as const;

/** The state of the circuit breaker of a route. `open`: the route takes no SMS. `probing`: it takes one at a time. */
export type BreakerState = (typeof BREAKER_STATES)[number];
