import { isRecord } from '../../common/options.js';
import type { HookCall } from './hook-inbox.js';
import type { HookCallView } from './hooks.api.js';

const MAX_EVENTS = 100;

/** Converts a call to the form of the API. It can show any body. */
export function hookCallView({ number, at, webhookId, verified, body }: HookCall): HookCallView {
  const events = eventsIn(body).slice(0, MAX_EVENTS).flatMap(eventOf);
  const receivedAt = new Date(at).toISOString();
  return { number, receivedAt, webhookID: webhookId, verified: verified ?? null, events, body };
}

function eventsIn(body: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isRecord(parsed)) return [];
    return Array.isArray(parsed.events) ? parsed.events : [parsed];
  } catch {
    return [];
  }
}

function eventOf(event: unknown): HookCallView['events'] {
  if (!isRecord(event) || typeof event.type !== 'string') return [];
  return [{ type: event.type.slice(0, 64), sequence: typeof event.sequence === 'number' ? event.sequence : null }];
}
