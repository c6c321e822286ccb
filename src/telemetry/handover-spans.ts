import type { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import type { TelemetrySpan } from '../common/telemetry/telemetry.js';
import type { Channel, StoreEarlyResults } from '../outbox/channel.js';
import type { DeliveryResult } from '../outbox/delivery/delivery-result.js';
import type { Delivery } from '../outbox/outbox-records.js';
import { delegate } from './delegate.js';

/** Wraps a channel so that each hand-over has a span. If the span of the send was recorded, the two are linked. */
export function tracedChannel(channel: Channel, telemetry: SafeTelemetry): Channel {
  const deliver = (batch: readonly Delivery[], signal: AbortSignal, early: StoreEarlyResults) =>
    batch.some(({ trace }) => trace !== undefined)
      ? new HandOver(channel, telemetry).deliver(batch, signal, early)
      : channel.deliver(batch, signal, early);
  return delegate(channel, (name, method) => (name === 'deliver' ? (deliver as typeof method) : method));
}

/**
 * The hand-over of one batch. The channel gets each delivery with the trace of its hand-over, so that requests to a
 * carrier can contain the trace.
 */
class HandOver {
  private readonly spans = new Map<Delivery, TelemetrySpan>();

  constructor(
    private readonly channel: Channel,
    private readonly telemetry: SafeTelemetry,
  ) {}

  async deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    early: StoreEarlyResults,
  ): Promise<readonly DeliveryResult[]> {
    const given = batch.map((delivery) => this.begin(delivery));
    const originals = new Map(given.map((delivery, index) => [delivery, batch[index] ?? delivery]));
    const storeEarly: StoreEarlyResults = (results) => {
      for (const [delivery, result] of results) this.end(delivery, result);
      return early(new Map([...results].map(([delivery, result]) => [originals.get(delivery) ?? delivery, result])));
    };
    try {
      const results = await this.channel.deliver(given, signal, storeEarly);
      for (const [index, delivery] of given.entries()) this.end(delivery, results[index]);
      return results;
    } finally {
      for (const delivery of given) this.end(delivery, undefined);
    }
  }

  private begin(delivery: Delivery): Delivery {
    const { trace, channel, attempt } = delivery;
    if (trace === undefined) return delivery;
    const span = this.telemetry.span('messaging.handover', {
      kind: 'client',
      links: [trace],
      attributes: { 'messaging.channel': channel, 'messaging.attempt': attempt },
    });
    const { trace: _, ...rest } = delivery;
    const { traceparent } = span;
    const traced = { ...rest, ...(traceparent === undefined ? {} : { trace: traceparent }) };
    this.spans.set(traced, span);
    return traced;
  }

  private end(delivery: Delivery, result: DeliveryResult | undefined): void {
    const span = this.spans.get(delivery);
    this.spans.delete(delivery);
    // The span does not get the carrier's code, because that may be any text.
    span?.end(result?.kind === 'sent' ? undefined : (result?.kind ?? 'no_answer'));
  }
}
