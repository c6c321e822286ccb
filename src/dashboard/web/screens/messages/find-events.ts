import type { AccountEvent, EventType } from '../../../../client/index.js';
import { PUBLISHED_STATUSES } from '../../../../events/delivery-status.js';
import { messaging } from '../../core/clients.js';
import { fieldOf } from '../shared/event.js';

/** A webhook call with an event. */
export interface Call {
  /** The endpoint's description, or the host of its address. */
  readonly name: string;
  readonly endpoint: string;
  readonly ok: boolean;
  readonly httpStatus: number | null;
}

export interface EventWithCalls {
  readonly event: AccountEvent;
  readonly calls: readonly Call[];
  /** Whether every call with the event was read. If not, there may be more calls than those in `calls`. */
  readonly isSure: boolean;
}

export interface FoundEvents {
  readonly rows: readonly EventWithCalls[];
  /** How far the log of events was read, if the search stopped before the end of the log. */
  readonly readUntil: string | undefined;
}

/** How many of the newest calls of an endpoint are read. */
export const MAX_CALLS = 400;
const CALL_PAGE = 100;
const PAGE = 500;
/** How many pages are read, beginning at the time of the message. */
const MAX_PAGES = 10;
/** How much earlier the search begins, because the order of the numbers may differ a little from the order of the times. */
const SLACK_MS = 60_000;
/** A time after all others. */
const NEVER = '9999';
const DELIVERY_EVENTS = PUBLISHED_STATUSES.map((status) => `message.${status}` as const);
const TYPES: readonly EventType[] = [...DELIVERY_EVENTS, 'send.completed'];

/** Finds the events of one message, and the webhook calls with them. */
export async function findEvents(id: string, since: string, signal: AbortSignal): Promise<FoundEvents> {
  const { events, readUntil } = await eventsOf(id, since, signal);
  return { rows: await callsOf(events, signal), readUntil };
}

/**
 * Finds the events of one message. The log has no index by message, so a binary search finds the time of the message, and pages
 * are read from there.
 */
async function eventsOf(
  id: string,
  since: string,
  signal: AbortSignal,
): Promise<{ readonly events: readonly AccountEvent[]; readonly readUntil: string | undefined }> {
  const found: AccountEvent[] = [];
  let last = since;
  let after = await placeOf(Date.parse(since) - SLACK_MS, signal);
  for (let page = 0; page < MAX_PAGES; page++) {
    const feed = await messaging().events.list({ types: TYPES, limit: PAGE }, { signal }).page(after);
    found.push(...feed.items.filter((event) => fieldOf(event, 'id') === id));
    const isComplete = found.some(({ type }) => type === 'send.completed');
    if (isComplete || feed.next_after === after || feed.next_after >= feed.last) {
      return { events: found, readUntil: undefined };
    }
    after = feed.next_after;
    last = feed.items.at(-1)?.timestamp ?? last;
  }
  return { events: found, readUntil: last };
}

/** Returns the number of an event before this time (milliseconds). Undefined: the log begins later. */
async function placeOf(moment: number, signal: AbortSignal): Promise<number | undefined> {
  const first = await messaging().events.list({ limit: 1 }, { signal }).page();
  const [earliest] = first.items;
  if (!earliest || Date.parse(earliest.timestamp) >= moment) return undefined;
  let low = earliest.sequence;
  let high = first.last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { items } = await messaging().events.list({ limit: 1 }, { signal }).page(middle);
    const [event] = items;
    if (!event || Date.parse(event.timestamp) >= moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Finds the webhook calls with these events among the newest `MAX_CALLS` calls of each endpoint. */
async function callsOf(events: readonly AccountEvent[], signal: AbortSignal): Promise<readonly EventWithCalls[]> {
  if (events.length === 0) return [];
  const wanted = new Set(events.map(({ sequence }) => sequence));
  const { items: endpoints, next_cursor: moreEndpoints } = await messaging().webhooks.list({}, { signal }).page();
  // Calls with an event are made after it. So if a call before the event was read, all calls with the event were.
  let sureAfter = moreEndpoints === null ? '' : NEVER;
  const calls = new Map<number, Call[]>();
  for (const { id, url, description } of endpoints) {
    const list = messaging().webhooks.attempts(id, { limit: CALL_PAGE }, { signal });
    let cursor: string | undefined;
    let oldest = NEVER;
    for (let page = 0; page < MAX_CALLS / CALL_PAGE; page++) {
      const attempts = await list.page(cursor);
      for (const { sequences, status, http_status: httpStatus } of attempts.items) {
        for (const sequence of sequences) {
          if (!wanted.has(sequence)) continue;
          const call = { name: description || hostOf(url), endpoint: id, ok: status === 'delivered', httpStatus };
          calls.set(sequence, [...(calls.get(sequence) ?? []), call]);
        }
      }
      cursor = attempts.next_cursor ?? undefined;
      if (cursor === undefined) break;
      oldest = attempts.items.at(-1)?.at ?? oldest;
    }
    if (cursor !== undefined && oldest > sureAfter) sureAfter = oldest;
  }
  return events.map((event) => ({
    event,
    calls: calls.get(event.sequence) ?? [],
    isSure: event.timestamp > sureAfter,
  }));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
