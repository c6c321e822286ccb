import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { SafeTelemetry } from '../common/safe-telemetry.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { Channels } from '../outbox/channel.js';
import { SmsChannel } from '../sms/sms-channel.js';
import { measuredTransport } from './carrier-probe.js';
import { countEvents } from './event-counts.js';
import { tracedChannel } from './handover-spans.js';
import { Instruments } from './instruments.js';

/** Has channels, transports and events observed before the first of them is used. Without telemetry it touches nothing. */
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
    for (const channel of this.channels.all()) {
      if (channel instanceof SmsChannel) {
        channel.observe((transport) => measuredTransport(transport, instruments, clock));
      }
    }
  }
}
