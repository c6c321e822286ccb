import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { maskNumber } from '../common/phone-numbers/phone-number.js';
import { EventLog } from '../events/event-log.js';
import type { EventView } from '../events/event-types.js';
import { type EventEpoch, type EventLogState, type EventQuery, type StoredEvent } from '../events/stored-event.js';
import { WebhookSettings } from './webhook-options.js';

/** An event in the form of the API, as text. */
export interface EventText extends Pick<EventView, 'id' | 'type' | 'sequence'> {
  /** JSON, with the fields of `EventView` in their order. */
  readonly text: string;
}

/** Events in the form of the API, read in one snapshot with the state of the log. */
export interface EventViewPage<E = EventView> {
  readonly events: readonly E[];
  /** The sequence number up to which all events of the query have been read. */
  readonly nextAfter: number;
  /** The sequence number of the last event in the log. 0: there is none yet. */
  readonly last: number;
  /** The lowest sequence number that is kept, or the next number if the log is empty. */
  readonly earliest: number;
  readonly recording: boolean;
}

/**
 * Reads events in the form of the API: with their ids, with the previous number of each event, and with masked numbers if the
 * host wants that.
 */
@Injectable()
export class EventViews {
  private lastIso = { at: 0, text: new Date(0).toISOString() };

  constructor(
    private readonly log: EventLog,
    private readonly settings: WebhookSettings,
  ) {}

  /**
   * Does the same as `EventLog.read`.
   * @throws StorageUnavailableError
   */
  async read(query: EventQuery): Promise<EventViewPage> {
    const { events, ...page } = await this.texts(query);
    return { ...page, events: events.map(({ text }) => JSON.parse(text)) };
  }

  /**
   * Does the same as `read`, but returns texts for callers that only pass events on.
   * @throws StorageUnavailableError
   */
  async texts(query: EventQuery): Promise<EventViewPage<EventText>> {
    const { accountId, types } = query;
    const { events, epochs, ...page } = await this.log.readStored(query);
    const kept = events.filter(({ sequence }) => sequence >= page.earliest);
    const [first] = kept;
    const { earliest } = page;
    let previous = first && (await this.previousOf({ accountId, types, earliest, epochs }, first.sequence));
    const account = JSON.stringify(accountId);
    const texts = kept.map((event) => {
      const text = this.textOf(account, event, markAt(epochs, event.sequence), previous);
      previous = event.sequence;
      return text;
    });
    return { ...page, events: texts };
  }

  /**
   * @param account the id of the account, as JSON
   * @param mark the random part of the event's id
   * @param previous the next lower sequence number that has one of the reader's types
   */
  textOf(account: string, event: StoredEvent, mark: string, previous: number | undefined): EventText {
    const { sequence, type, at } = event;
    const id = idOf(account, sequence, mark);
    const data = this.settings.maskNumbers ? JSON.stringify(masked(JSON.parse(event.data))) : event.data;
    // The stored JSON of the data is inserted without parsing it, because calls and pages have thousands of events.
    const text = `{"id":"${id}","type":"${type}","timestamp":"${this.isoOf(at)}","sequence":${sequence},"previous":${previous ?? null},"account":${account},"data":${data}}`;
    return { id, type, sequence, text };
  }

  /** Formats a time in ISO 8601. It caches the last text, because successive events often have the same time. */
  private isoOf(at: number): string {
    if (at !== this.lastIso.at) this.lastIso = { at, text: new Date(at).toISOString() };
    return this.lastIso.text;
  }

  /**
   * Returns the previous sequence number of an event. There is none if the log was switched on again in between, because then
   * nobody knows what happened meanwhile. Within an epoch the numbers have no gaps.
   */
  private async previousOf(
    {
      accountId,
      types,
      earliest,
      epochs,
    }: Pick<EventQuery, 'accountId' | 'types'> & Pick<EventLogState, 'earliest' | 'epochs'>,
    sequence: number,
  ): Promise<number | undefined> {
    if (sequence <= earliest) return undefined;
    if (types === undefined && !epochs.some(({ from }) => from === sequence)) return sequence - 1;
    const previous = await this.log.previous(accountId, sequence, types);
    return previous !== undefined && previous >= earliest ? previous : undefined;
  }
}

/**
 * Returns the id of an event: 128 bits of SHA-256 over its account, its sequence number and the random part of its epoch. So no
 * two events have the same id, not even in a staging system or after a restore.
 */
export function eventId(accountId: string, sequence: number, mark: string): string {
  return idOf(JSON.stringify(accountId), sequence, mark);
}

/** Returns the random part of the ids at a sequence number. */
function markAt(epochs: readonly EventEpoch[], sequence: number): string {
  return epochs.findLast(({ from }) => from <= sequence)?.mark ?? '';
}

/** @param account the id of the account, as JSON */
function idOf(account: string, sequence: number, mark: string): string {
  // Node makes a digest as text three times as fast as a digest as bytes. The last of the 22 characters holds two bits of
  // the digest and four zero bits.
  const digest = hash('sha256', `[${account},${sequence},"${mark}"]`, 'base64url');
  return `evt_${digest.slice(0, 21)}${LAST_BITS[BASE64URL.indexOf(digest.charAt(21)) >> 4]}`;
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The characters of base64url for 2 bits and four zeros. */
const LAST_BITS = 'AQgw';

const NUMBERS: ReadonlySet<string> = new Set(['number', 'from', 'to']);

/** Returns the data with all phone numbers masked. A sender name is not a phone number. */
function masked(data: object): object {
  const entries = Object.entries(data).map(([name, value]) => {
    return [name, NUMBERS.has(name) && typeof value === 'string' && /^\d+$/.test(value) ? maskNumber(value) : value];
  });
  return Object.fromEntries(entries);
}
