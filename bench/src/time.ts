// This constant is declared again, because the package does not export its own, and a file outside this folder would be
// compiled to another place.
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
