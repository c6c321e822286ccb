import { HEALTH_CHECKS } from '../core/health-check.api.js';
import { list, moment, nullable, object, oneOf, ref, text } from '../schemas/builders.js';
import { type TypeOf } from '../schemas/schema.js';

/** `warning`: somebody should look at it, but requests are answered. */
export const HEALTH_STATES = ['ok', 'warning', 'failed'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

const STATUS = oneOf(['ok', 'unavailable'], 'Whether the process should receive requests.');

/** The health of a process, without details. */
export const Health = object('The health of the process, without details.', { status: STATUS });
export interface Health extends TypeOf<typeof Health> {}

/** One check. Its result is up to a second old. */
export const HealthCheckView = object('One check; results are up to a second old.', {
  check: oneOf([...HEALTH_CHECKS, 'process'], 'What is checked.'),
  subject: nullable(
    text('The checked part, for example a channel; null if the check has only one.', { example: 'sms' }),
  ),
  state: oneOf(HEALTH_STATES, '`warning`: somebody should look at it, but requests are answered.'),
  since: nullable(moment('When the state last changed.')),
  text: text('The result in one sentence.', { example: 'The storage answers.' }),
});
export interface HealthCheckView extends TypeOf<typeof HealthCheckView> {}

/** The present health of an application. */
export const HealthReport = object('The health of the process.', {
  status: STATUS,
  checks: list(ref<HealthCheckView>({ HealthCheck: HealthCheckView })),
});
export interface HealthReport extends TypeOf<typeof HealthReport> {}
