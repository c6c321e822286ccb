import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { maskNumber } from '../common/phone-numbers/phone-number.js';
import { EventLog } from '../events/event-log.js';
import type { EventView } from '../events/event-types.js';
import { type EventEpoch, type EventLogState, type EventQuery, type StoredEvent } from '../events/stored-event.js';
import { WebhookSettings } from './webhook-options.js';

/** An event as it is given, as text. */
export interface EventText extends Pick<EventView, 'id' | 'type' | 'sequence'> {
  /** JSON, with the fields of `EventView` in their order. */
  readonly text: string;
}

/** Events as they are given, read in one snapshot with the state of the log. */
export interface EventViewPage<E = EventView> {
  readonly events: readonly E[];
  /** Up to which number all events of the query have been read. */
  readonly nextAfter: number;
  /** The number of the last event of the log; 0: none yet. */
  readonly last: number;
  /** The lowest number that is kept, or will be given next. */
  readonly earliest: number;
  readonly recording: boolean;
}

/** Reads events as they are given: with their ids, with the number before each, and masked where the host wants it. */
@Injectable()
export class EventViews {
  private lastIso = { at: 0, text: new Date(0).toISOString() };

  constructor(
    private readonly log: EventLog,
    private readonly settings: WebhookSettings,
  ) {}

  /**
   * As `EventLog.read`.
   * @throws StorageUnavailableError
   */
  async read(query: EventQuery): Promise<EventViewPage> {
    const { events, ...page } = await this.texts(query);
    return { ...page, events: events.map(({ text }) => JSON.parse(text)) };
  }

  /**
   * As `read`, for those that pass events on.
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
   * @param account its id as JSON
   * @param mark the random part of the event's id
   * @param previous the next lower number of the reader's types
   */
  textOf(account: string, event: StoredEvent, mark: string, previous: number | undefined): EventText {
    const { sequence, type, at } = event;
    const id = idOf(account, sequence, mark);
    const data = this.settings.maskNumbers ? JSON.stringify(masked(JSON.parse(event.data))) : event.data;
    // The data is put in as it is stored, as calls and pages carry it by the thousand.
    const text = `{"id":"${id}","type":"${type}","timestamp":"${this.isoOf(at)}","sequence":${sequence},"previous":${previous ?? null},"account":${account},"data":${data}}`;
    return { id, type, sequence, text };
  }

  /** ISO 8601. Events that follow one another often happened at once. */
  private isoOf(at: number): string {
    if (at !== this.lastIso.at) this.lastIso = { at, text: new Date(at).toISOString() };
    return this.lastIso.text;
  }

  /**
   * A number from before the log was switched on again is none of its numbers: what lies between is not known. Numbers follow one
   * another but for the first of an epoch.
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
 * The id of an event: 128 bits of SHA-256 over its account, its number and the random part of its epoch, so that no two events have
 * the same, neither in staging nor after a restore.
 */
export function eventId(accountId: string, sequence: number, mark: string): string {
  return idOf(JSON.stringify(accountId), sequence, mark);
}

/** The random part of the ids at a number. */
function markAt(epochs: readonly EventEpoch[], sequence: number): string {
  return epochs.findLast(({ from }) => from <= sequence)?.mark ?? '';
}

/** @param account as JSON */
function idOf(account: string, sequence: number, mark: string): string {
  // A digest as text costs a third of one as bytes. The last of the 22 characters has 2 bits, and zeros.
  const digest = hash('sha256', `[${account},${sequence},"${mark}"]`, 'base64url');
  return `evt_${digest.slice(0, 21)}${LAST_BITS[BASE64URL.indexOf(digest.charAt(21)) >> 4]}`;
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** 2 bits and four zeros in base64url. */
const LAST_BITS = 'AQgw';

const NUMBERS: ReadonlySet<string> = new Set(['number', 'from', 'to']);

/** The data with all phone numbers masked. A sender name is none. */
function masked(data: object): object {
  const entries = Object.entries(data).map(([name, value]) => {
    return [name, NUMBERS.has(name) && typeof value === 'string' && /^\d+$/.test(value) ? maskNumber(value) : value];
  });
  return Object.fromEntries(entries);
}
