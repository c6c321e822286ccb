import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { countryOf } from '../common/phone-numbers/phone-number.js';
import { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { PUBLISHED_SESSION_STATUSES } from '../events/session-status.js';
import { Channels } from '../outbox/channel.js';
import { SmsChannel } from '../sms/sms-channel.js';
import { measuredTransport } from './carrier-probe.js';
import { tracedChannel } from './handover-spans.js';
import { Instruments } from './instruments.js';

/** Starts to observe channels, transports and events before the first of them is used. Without telemetry it does nothing. */
@Injectable()
export class TelemetryHooks implements OnModuleInit {
  constructor(
    private readonly telemetry: SafeTelemetry,
    private readonly instruments: Instruments,
    private readonly channels: Channels,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const { telemetry, instruments, clock } = this;
    if (!instruments.isOn) return;
    countEvents(this.events, instruments);
    if (telemetry.traces) this.channels.observe((channel) => tracedChannel(channel, telemetry));
    for (const channel of this.channels.ofType(SmsChannel)) {
      channel.observe((transport) => measuredTransport(transport, instruments, clock));
    }
  }
}

const STEPS = PUBLISHED_SESSION_STATUSES.map((status) => `session.${status}` as const);

/** Counts the events that this process emits to the host: codes, sessions, differences of segments. */
function countEvents(events: MessagingEvents, instruments: Instruments): void {
  const record = instruments.record.bind(instruments);
  events.on('otp.verified', ({ data }) => record('codes_verified_total', 1, countryOf(data.number)));
  events.on('otp.refused', ({ data }) => record('code_refusals_total', 1, data.reason));
  events.on(STEPS, ({ data }) => record('session_changes_total', 1, data.channel, data.status));
  events.on('session.restricted', ({ data }) => record('session_restrictions_total', 1, data.channel));
  events.on('login_hook.called', ({ hook, outcome }) => record('login_hook_calls_total', 1, hook, outcome));
  events.on('sms.number_unread', ({ route }) => record('unread_numbers_total', 1, route));
  events.on('sms.segments_differ', ({ route }) => record('segment_differences_total', 1, route));
}
