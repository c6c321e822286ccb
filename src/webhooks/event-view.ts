import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { maskNumber } from '../common/phone-number.js';
import { EventLog, type EventQuery, type LoggedEvent } from '../events/event-log.js';
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

/** Events as they are given, read in one snapshot with the state of the log. */
export interface EventViewPage {
  readonly events: readonly EventView[];
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
  constructor(
    private readonly log: EventLog,
    private readonly settings: WebhookSettings,
  ) {}

  /**
   * As `EventLog.read`.
   * @throws StorageUnavailableError
   */
  async read(query: EventQuery): Promise<EventViewPage> {
    const { events, ...page } = await this.log.read(query);
    const kept = events.filter(({ sequence }) => sequence >= page.earliest);
    const [first] = kept;
    let previous = first && (await this.previousOf(first, query.types, page.earliest));
    const views = kept.map((event) => {
      const view = this.viewOf(event, previous);
      previous = event.sequence;
      return view;
    });
    return { ...page, events: views };
  }

  /** @param previous the next lower number of the reader's types */
  viewOf({ accountId, sequence, type, at, data }: LoggedEvent, previous: number | undefined): EventView {
    const view = {
      id: eventId(accountId, sequence),
      type,
      timestamp: new Date(at).toISOString(),
      sequence,
      previous: previous ?? null,
      account: accountId,
      data: this.settings.maskNumbers ? masked(data) : data,
    };
    // A logged event has the data of its type.
    return view as EventView;
  }

  /** A number from before the log was switched on again is none of its numbers: what lies between is not known. */
  private async previousOf(
    { accountId, sequence }: LoggedEvent,
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
  const digest = createHash('sha256')
    .update(JSON.stringify([accountId, sequence]))
    .digest();
  return `evt_${digest.subarray(0, 16).toString('base64url')}`;
}

const NUMBERS: ReadonlySet<string> = new Set(['number', 'from', 'to']);

/** The data with all phone numbers masked. A sender name is none. */
function masked(data: object): object {
  const entries = Object.entries(data).map(([name, value]) => {
    return [name, NUMBERS.has(name) && typeof value === 'string' && /^\d+$/.test(value) ? maskNumber(value) : value];
  });
  return Object.fromEntries(entries);
}
