import type { Row } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';
import type { EventType, NewEvent } from './event-types.js';
import type { StoredEvent } from './stored-event.js';

/**
 * The length of a run: so many consecutive events of one type share a row. If there are fewer, each event has a row of
 * its own. A row with its indexes costs several times as much as an event in it. With longer runs, readers would read
 * more events that are not on their page.
 */
export const RUN = 16;

/** The columns of a row that events are read from; `e` is the table. */
export const EVENT_COLUMNS = 'e.sequence, e.earlier, e.type, e.at, e.data';

/** A row of the log without its account and its number. The number of a row is that of its last event. */
export interface EventRow extends Pick<NewEvent, 'type'> {
  readonly events: number;
  /** When the last of its events happened. */
  readonly at: number;
  readonly data: string;
}

/** The time and the data of one event of a row. */
export interface EventContent {
  readonly at: number;
  readonly data: object;
}

/** Puts the events of one account into rows, in their order. */
export function eventRows(events: readonly NewEvent[]): readonly EventRow[] {
  const rows: EventRow[] = [];
  for (let from = 0; from < events.length; ) {
    const alike = alikeFrom(events, from);
    const { type } = alike[0];
    const shared = alike.length === RUN ? [alike] : alike.map((event) => [event]);
    for (const own of shared) rows.push({ type, events: own.length, at: lastOf(own), data: contentText(own) });
    from += alike.length;
  }
  return rows;
}

/** The events from an index on that have the same type and the same fields as the first of them, at most `RUN`. */
function alikeFrom(events: readonly NewEvent[], from: number): readonly [NewEvent, ...NewEvent[]] {
  const [first, ...others] = events.slice(from, from + RUN);
  if (!first) throw new Error('There is no event at this index.');
  const names = Object.keys(first.data);
  const end = others.findIndex(({ type, data }) => type !== first.type || !isSame(Object.keys(data), names));
  return [first, ...(end < 0 ? others : others.slice(0, end))];
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name, index) => name === others[index]);
}

function lastOf(events: readonly EventContent[]): number {
  return Math.max(...events.map(({ at }) => at));
}

/**
 * Writes the column `data` of a row. For one event it is the event's data. For a run it is `[at, data]`: a value that
 * all events share is written once, and other values are written as an array with one for each event. The events of a
 * run have the same fields in the same order. Example: `[1764000000000,{"status":"sent","position":[0,1,2]}]`.
 */
export function contentText(events: readonly EventContent[]): string {
  const [first] = events;
  if (!first || events.length === 1) return JSON.stringify(first?.data);
  const values = events.map(({ data }): unknown[] => Object.values(data));
  const fields = Object.keys(first.data).map((name, field) => [name, shared(values.map((each) => each[field]))]);
  return JSON.stringify([shared(events.map(({ at }) => at)), Object.fromEntries(fields)]);
}

function shared(values: readonly unknown[]): unknown {
  const [first] = values;
  return !Array.isArray(first) && values.every((value) => value === first) ? first : values;
}

/** Reads the time and the data of each event of a row, in their order. */
export function contentsOf(row: Row): readonly EventContent[] {
  const { length } = numbersOf(row);
  if (length === 1) return [{ at: integerOf(row, 'at'), data: JSON.parse(textOf(row, 'data')) }];
  const [at, data] = runOf(row);
  const fields = Object.entries(data);
  return Array.from({ length }, (_, index) => ({
    at: valueAt(at, index),
    data: Object.fromEntries(fields.map(([name, value]) => [name, valueAt(value, index)])),
  }));
}

/** Reads the column `data` of a run; see `contentText`. */
function runOf(row: Row): readonly [at: number | readonly number[], data: object] {
  return JSON.parse(textOf(row, 'data'));
}

function valueAt<T>(value: T | readonly T[], index: number): T;
function valueAt(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value[index] : value;
}

/**
 * Reads the events of a row, in the order of their numbers. Only this package writes the columns, from values of these
 * types.
 */
export function storedEvents(row: Row): readonly StoredEvent[] {
  const type = textOf(row, 'type') as EventType;
  const { first, length } = numbersOf(row);
  // The data of a single event is passed on as it is stored.
  if (length === 1) return [{ sequence: first, type, at: integerOf(row, 'at'), data: textOf(row, 'data') }];
  const [at, data] = runOf(row);
  const parts = textParts(data);
  return Array.from({ length }, (_, index) => ({
    sequence: first + index,
    type,
    at: valueAt(at, index),
    data: parts.map((part) => valueAt(part, index)).join(''),
  }));
}

/**
 * The data of a run as parts of JSON texts: a text is the same for all events, and an array has one text for each
 * event. The JSON of an event is made by joining its parts.
 */
function textParts(data: object): readonly (string | readonly string[])[] {
  const parts: (string | readonly string[])[] = [];
  let same = '{';
  for (const [name, value] of Object.entries(data)) {
    same += `${same === '{' && parts.length === 0 ? '' : ','}${JSON.stringify(name)}:`;
    if (Array.isArray(value)) {
      parts.push(
        same,
        value.map((each) => JSON.stringify(each)),
      );
      same = '';
    } else same += JSON.stringify(value);
  }
  return [...parts, `${same}}`];
}

/** The numbers of a row's events. */
export function numbersOf(row: Row): { readonly first: number; readonly length: number } {
  const earlier = integerOf(row, 'earlier');
  return { first: integerOf(row, 'sequence') - earlier, length: earlier + 1 };
}
