import { Injectable } from '@nestjs/common';
import { SafeTelemetry } from '../../common/telemetry/safe-telemetry.js';
import { NO_SPAN, type TelemetrySpan } from '../../common/telemetry/telemetry.js';
import { OutboxStore } from '../../outbox/outbox-store.js';
import type { CalledEvent } from './http/call-request.js';
import type { WebhookOutcome } from './http/webhook-exchange.js';

/** The most sends that one call is linked to. */
const MAX_LINKS = 32;

/** Gives calls spans, linked to the sends that their events are about, where those were recorded. */
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

  /** Never throws: a call is made without links where the storage does not answer. */
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

/** The send that an event is about. */
function messageOf({ type, text }: CalledEvent): string | undefined {
  if (!type.startsWith('message.') && type !== 'send.completed') return undefined;
  return JSON.parse(text).data.id;
}
