/** The names of all health checks; see `HealthChecks`. */
export const HEALTH_CHECKS = ['storage', 'schema', 'disk', 'workers', 'queue', 'routes', 'sessions'] as const;

/** The name of a health check. */
export type HealthCheckName = (typeof HEALTH_CHECKS)[number];
