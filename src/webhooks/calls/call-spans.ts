import { Injectable } from '@nestjs/common';
import { SafeTelemetry } from '../../common/telemetry/safe-telemetry.js';
import { NO_SPAN, type TelemetrySpan } from '../../common/telemetry/telemetry.js';
import { OutboxStore } from '../../outbox/outbox-store.js';
import type { CalledEvent } from './http/call-request.js';
import type { WebhookOutcome } from './http/webhook-exchange.js';

/** How many sends one call can be linked to. */
const MAX_LINKS = 32;

/** Gives calls spans. A span is linked to the sends that its events are about, if those sends were recorded. */
@Injectable()
export class CallSpans {
  constructor(
    private readonly telemetry: SafeTelemetry,
    private readonly outbox: OutboxStore,
  ) {}

  /** Whether calls get spans at all. */
  get areOn(): boolean {
    return this.telemetry.traces;
  }

  /** Never throws. If the storage does not answer, the span has no links. */
  async begin(events: readonly CalledEvent[]): Promise<TelemetrySpan> {
    const links = await this.linksOf(events);
    const attributes = { 'messaging.events': events.length };
    return links.length > 0 ? this.telemetry.span('messaging.webhook', { kind: 'client', links, attributes }) : NO_SPAN;
  }

  /** @param outcome how the call ended */
  end(span: TelemetrySpan, { status, error }: WebhookOutcome): void {
    const isTaken = status !== undefined && status >= 200 && status < 300;
    span.end(isTaken ? undefined : (error ?? `http_${status}`));
  }

  private async linksOf(events: readonly CalledEvent[]): Promise<readonly string[]> {
    const ids = new Set(events.flatMap((event) => messageOf(event) ?? []));
    if (ids.size === 0) return [];
    try {
      return await this.outbox.traces([...ids].slice(0, MAX_LINKS));
    } catch {
      return [];
    }
  }
}

/** Returns the id of the send that an event is about. */
function messageOf({ type, text }: CalledEvent): string | undefined {
  if (!type.startsWith('message.') && type !== 'send.completed') return undefined;
  return JSON.parse(text).data.id;
}
