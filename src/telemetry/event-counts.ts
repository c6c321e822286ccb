import { countryOf } from '../common/phone-number.js';
import type { MessagingEvents } from '../events/messaging-events.js';
import type { Instruments } from './instruments.js';

const STEPS = [
  ...['session.connected', 'session.reconnecting', 'session.logged_out', 'session.replaced'],
  ...['session.banned', 'session.expired', 'session.failed'],
] as const;

/** Counts what this process tells the host: codes, sessions, differences of segments. */
export function countEvents(events: MessagingEvents, instruments: Instruments): void {
  const record = instruments.record.bind(instruments);
  events.on('otp.verified', ({ data }) => record('codes_verified_total', 1, countryOf(data.number)));
  events.on('otp.refused', ({ data }) => record('code_refusals_total', 1, data.reason));
  events.on(STEPS, ({ data }) => record('session_changes_total', 1, data.channel, data.status));
  events.on('session.restricted', ({ data }) => record('session_restrictions_total', 1, data.channel));
  events.on('sms.segments_differ', ({ route }) => record('segment_differences_total', 1, route));
}
