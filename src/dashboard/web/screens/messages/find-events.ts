import { api, type Page } from '../../core/api.js';
import type { LoggedEvent } from '../shared/event.js';

interface Feed extends Page<LoggedEvent> {
  readonly next_after: number;
  readonly last: number;
}

/** A call of a webhook with an event. */
export interface Call {
  /** The endpoint's description, or the host of its address. */
  readonly name: string;
  readonly endpoint: string;
  readonly ok: boolean;
  readonly httpStatus: number | null;
}

export interface EventWithCalls {
  readonly event: LoggedEvent;
  readonly calls: readonly Call[];
}

const PAGE = 500;
/** Pages that are read from the moment of the message on. */
const MAX_PAGES = 10;
/** An event may be numbered a little after a later one. */
const SLACK_MS = 60_000;
const TYPES = ['sent', 'delivered', 'read', 'undelivered', 'failed', 'unknown'].map((each) => `message.${each}`);

/**
 * The events of one message. The log has no index of messages: the place of its moment is found by halving, then pages are read.
 */
export async function eventsOf(id: string, since: string, signal: AbortSignal): Promise<readonly LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  const types = [...TYPES, 'send.completed'].join(',');
  let after = await placeOf(Date.parse(since) - SLACK_MS, signal);
  for (let page = 0; page < MAX_PAGES; page++) {
    const feed = await api.get<Feed>('events', { after, types, limit: PAGE }, signal);
    found.push(...feed.items.filter(({ data }) => data.id === id));
    const isComplete = found.some(({ type }) => type === 'send.completed');
    if (isComplete || feed.next_after === after || feed.next_after >= feed.last) break;
    after = feed.next_after;
  }
  return found;
}

/** A sequence before the events of a moment, ms; undefined: the beginning. */
async function placeOf(moment: number, signal: AbortSignal): Promise<number | undefined> {
  const first = await api.get<Feed>('events', { limit: 1 }, signal);
  const [earliest] = first.items;
  if (!earliest || Date.parse(earliest.timestamp) >= moment) return undefined;
  let low = earliest.sequence;
  let high = first.last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { items } = await api.get<Feed>('events', { after: middle, limit: 1 }, signal);
    const [event] = items;
    if (!event || Date.parse(event.timestamp) >= moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
}

interface Attempt {
  readonly sequences: readonly number[];
  readonly status: string;
  readonly http_status: number | null;
}

/** Who was called with the events, as far as the newest calls tell. */
export async function callsOf(events: readonly LoggedEvent[], signal: AbortSignal): Promise<readonly EventWithCalls[]> {
  if (events.length === 0) return [];
  const wanted = new Set(events.map(({ sequence }) => sequence));
  const { items: endpoints } = await api.get<Page<Endpoint>>('webhooks', {}, signal);
  const calls = new Map<number, Call[]>();
  for (const { id, url, description } of endpoints) {
    let cursor: string | null | undefined;
    for (let page = 0; page < 4 && cursor !== null; page++) {
      const path = `webhooks/${encodeURIComponent(id)}/attempts`;
      const attempts: Page<Attempt> = await api.get(path, { limit: 100, cursor }, signal);
      for (const { sequences, status, http_status: httpStatus } of attempts.items) {
        for (const sequence of sequences) {
          if (!wanted.has(sequence)) continue;
          const call = { name: description || hostOf(url), endpoint: id, ok: status === 'delivered', httpStatus };
          calls.set(sequence, [...(calls.get(sequence) ?? []), call]);
        }
      }
      cursor = attempts.next_cursor;
    }
  }
  return events.map((event) => ({ event, calls: calls.get(event.sequence) ?? [] }));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
