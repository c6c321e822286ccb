import type { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { Notifier } from '../common/notifier.js';
import type { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { NO_SPAN, type TelemetrySpan } from '../common/telemetry/telemetry.js';
import type { MessagingEvents } from '../events/messaging-events.js';
import type { Send } from '../outbox/accept/send.js';
import { type Acceptance, type AcceptOptions, Outbox } from '../outbox/outbox.js';
import type { OutboxStore } from '../outbox/outbox-store.js';
import type { Instruments } from './instruments.js';

/** An outbox that measures and traces its sends. It replaces the plain outbox if there is telemetry. */
export class ObservedOutbox extends Outbox {
  constructor(
    store: OutboxStore,
    notifier: Notifier,
    events: MessagingEvents,
    private readonly telemetry: SafeTelemetry,
    private readonly instruments: Instruments,
    private readonly clock: Clock,
  ) {
    super(store, notifier, events);
  }

  override async accept(send: Send, options?: AcceptOptions): Promise<Acceptance> {
    const { channel } = send;
    const began = this.clock.elapsed();
    const span = this.telemetry.traces ? this.begin(send) : NO_SPAN;
    let outcome = 'failed';
    let code: string | undefined;
    try {
      const trace = span.isRecorded ? span.traceparent : undefined;
      const acceptance = await super.accept(trace === undefined ? send : { ...send, trace }, options);
      outcome = acceptance.replayed ? 'replayed' : 'accepted';
      return acceptance;
    } catch (error) {
      code = codeOf(error, options);
      if (code !== 'storage_unavailable' && code !== 'dropped' && code !== 'fault') outcome = 'refused';
      this.instruments.record('accept_refusals_total', 1, channel, code);
      throw error;
    } finally {
      const seconds = (this.clock.elapsed() - began) / 1000;
      this.instruments.record('accept_duration_seconds', seconds, channel, outcome);
      span.end(code);
    }
  }

  private begin({ channel, recipients }: Send): TelemetrySpan {
    return this.telemetry.span('messaging.accept', {
      kind: 'producer',
      isChild: true,
      attributes: { 'messaging.channel': channel, 'messaging.recipients': recipients.length },
    });
  }
}

function codeOf(error: unknown, options?: AcceptOptions): string {
  if (error instanceof MessagingError) return error.code.replace('error.', '');
  return options?.signal?.aborted ? 'dropped' : 'fault';
}
