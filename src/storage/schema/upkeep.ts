// How PostgreSQL cleans up a table. By its defaults a fifth of a table may be dead before it is cleaned up: 2 000 000 dead rows
// of 10 000 000, which claims then read past.

/** For tables whose rows change often: clean up after 1000 dead rows and a hundredth of the table, while they are in memory. */
export const CHANGING = { autovacuum_vacuum_scale_factor: 0.01, autovacuum_vacuum_threshold: 1000 };

/** Clean up without pauses, because reading past dead rows meanwhile costs more than the clean-up. */
export const UNHURRIED = { autovacuum_vacuum_cost_delay: 0 };
