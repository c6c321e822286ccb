/** When PostgreSQL cleans up a table whose rows change often: after 1000 dead rows and a hundredth of the table, while they are in memory. */
export const CHANGING = { autovacuum_vacuum_scale_factor: 0.01, autovacuum_vacuum_threshold: 1000 };
