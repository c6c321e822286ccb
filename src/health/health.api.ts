import { HEALTH_CHECKS } from '../core/health-check.api.js';
import { list, moment, nullable, object, oneOf, ref, text } from '../schemas/builders.js';
import { type TypeOf } from '../schemas/schema.js';

const STATUS = oneOf(['ok', 'unavailable'], 'Whether the process is to be sent requests.');

/** What a process is like, without detail. */
export const Health = object('What the process is like, without detail.', { status: STATUS });
export interface Health extends TypeOf<typeof Health> {}

/** One check. Its result is up to a second old. */
export const HealthCheckView = object('One check; results are up to a second old.', {
  check: oneOf([...HEALTH_CHECKS, 'process'], 'What is checked.'),
  subject: nullable(text('Which of several, for instance a channel.', { example: 'sms' })),
  state: oneOf(['ok', 'warning', 'failed'], '`warning`: somebody should look.'),
  since: nullable(moment('When it began to be so.')),
  text: text('One sentence.', { example: 'The storage answers.' }),
});
export interface HealthCheckView extends TypeOf<typeof HealthCheckView> {}

/** The present health of an application. */
export const HealthReport = object('What the process is like.', {
  status: STATUS,
  checks: list(ref<HealthCheckView>({ HealthCheck: HealthCheckView })),
});
export interface HealthReport extends TypeOf<typeof HealthReport> {}
