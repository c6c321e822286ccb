import type { Row } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';
import type { EventType, NewEvent } from './event-types.js';
import type { StoredEvent } from './stored-event.js';

/**
 * So many events of one type that follow one another share a row, a run; fewer have a row each. A row with its indexes costs
 * several times what an event in it does, and runs that were longer would have a page read more that is not on it.
 */
export const RUN = 16;

/** The columns of a row that events are read from; `e` is the table. */
export const EVENT_COLUMNS = 'e.sequence, e.earlier, e.type, e.at, e.data';

/** A row of the log, without its account and its number, which is that of its last event. */
export interface EventRow extends Pick<NewEvent, 'type'> {
  readonly events: number;
  /** When the last of them happened. */
  readonly at: number;
  readonly data: string;
}

/** What a row says of each of its events. */
export interface EventContent {
  readonly at: number;
  readonly data: object;
}

/** The rows of events of one account, in their order. */
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

/** The events from a place on that have the type and the fields of the first of them, at most as many as a run has. */
function alikeFrom(events: readonly NewEvent[], from: number): readonly [NewEvent, ...NewEvent[]] {
  const [first, ...others] = events.slice(from, from + RUN);
  if (!first) throw new Error('There is no event at this place.');
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
 * The column `data` of a row: of one event its data, of a run `[at, data]`, where a value stands for all of its events, and an
 * array has that of each. The events of a run have the same fields in the same order.
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

/** What the row says of each of its events, in their order. */
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

/** The column `data` of a run; see `contentText`. */
function runOf(row: Row): readonly [at: number | readonly number[], data: object] {
  return JSON.parse(textOf(row, 'data'));
}

function valueAt<T>(value: T | readonly T[], index: number): T;
function valueAt(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value[index] : value;
}

/** The events of a row, in the order of their numbers. Only this package writes the columns, from values of these types. */
export function storedEvents(row: Row): readonly StoredEvent[] {
  const type = textOf(row, 'type') as EventType;
  const { first, length } = numbersOf(row);
  // What is alone in its row is passed on as it is stored.
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

/** The data of a run as JSON: texts that all of its events have, and between them those of each. */
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
