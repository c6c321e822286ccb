/** The names of all health checks; see `HealthChecks`. */
export const HEALTH_CHECKS = ['storage', 'schema', 'disk', 'workers', 'queue', 'routes', 'sessions'] as const;

export type HealthCheckName = (typeof HEALTH_CHECKS)[number];
