import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { maskNumber } from '../common/phone-number.js';
import { EventLog, type EventQuery, type StoredEvent } from '../events/event-log.js';
import type { EventData, EventType } from '../events/event-types.js';
import { WebhookSettings } from './webhook-options.js';

/** An event of the log as the feed, the stream and webhooks give it. */
export type EventView<T extends EventType = EventType> = {
  [K in T]: {
    /** The same in every copy of the event, and in no other. */
    readonly id: string;
    readonly type: K;
    /** ISO 8601. */
    readonly timestamp: string;
    /** Counts the account's events without gaps. */
    readonly sequence: number;
    /** The next lower sequence that is kept and has one of the reader's types; null: none. */
    readonly previous: number | null;
    /** The account's id. */
    readonly account: string;
    readonly data: EventData[K];
  };
}[T];

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
    const { events, ...page } = await this.log.readStored(query);
    const kept = events.filter(({ sequence }) => sequence >= page.earliest);
    const [first] = kept;
    let previous = first && (await this.previousOf(accountId, first.sequence, types, page.earliest));
    const account = JSON.stringify(accountId);
    const texts = kept.map((event) => {
      const text = this.text(account, event, previous);
      previous = event.sequence;
      return text;
    });
    return { ...page, events: texts };
  }

  /** @param previous the next lower number of the reader's types */
  textOf(accountId: string, event: StoredEvent, previous: number | undefined): EventText {
    return this.text(JSON.stringify(accountId), event, previous);
  }

  /** @param account its id as JSON */
  private text(account: string, event: StoredEvent, previous: number | undefined): EventText {
    const { sequence, type, at } = event;
    const id = idOf(account, sequence);
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

  /** A number from before the log was switched on again is none of its numbers: what lies between is not known. */
  private async previousOf(
    accountId: string,
    sequence: number,
    types: readonly EventType[] | undefined,
    earliest: number,
  ): Promise<number | undefined> {
    if (sequence <= earliest) return undefined;
    if (types === undefined) return sequence - 1;
    const previous = await this.log.previous(accountId, sequence, types);
    return previous !== undefined && previous >= earliest ? previous : undefined;
  }
}

/** The id of an event: 128 bits of SHA-256 over its account and number, so that no two events have the same. */
export function eventId(accountId: string, sequence: number): string {
  return idOf(JSON.stringify(accountId), sequence);
}

/** @param account as JSON */
function idOf(account: string, sequence: number): string {
  // A digest as text costs a third of one as bytes. The last of the 22 characters has 2 bits, and zeros.
  const digest = hash('sha256', `[${account},${sequence}]`, 'base64url');
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
