// Settings for the clean-up of a table by PostgreSQL. By default, a fifth of a table may be dead before it is cleaned
// up. Of 10 000 000 rows these are 2 000 000 dead ones, and claims would have to read past them.

/**
 * For tables whose rows change often. They are cleaned up after 1000 dead rows and a hundredth of the table, while
 * these rows are still in memory.
 */
export const CHANGING = { autovacuum_vacuum_scale_factor: 0.01, autovacuum_vacuum_threshold: 1000 };

/**
 * For tables that are cleaned up without pauses, because reading past dead rows meanwhile costs more than the clean-up.
 */
export const UNHURRIED = { autovacuum_vacuum_cost_delay: 0 };
