import { expect, test } from '@jest/globals';
import { contentsOf, contentText, eventRows, RUN, storedEvents } from '../../../../src/events/event-runs.js';
import type { NewEvent } from '../../../../src/events/event-types.js';
import { range } from '../../../contract/storage/fixtures.js';
import { delivered, verified } from '../../../support/events/logged-events.js';

const deliveries = (count: number): NewEvent[] => range(count).map((position) => delivered('demo', position));
const shapeOf = (events: readonly NewEvent[]) => eventRows(events).map((row) => [row.type, row.events]);

test('similar events share a row from the length of a run on; fewer have a row each', () => {
  expect(shapeOf(deliveries(RUN - 1))).toEqual(range(RUN - 1).map(() => ['message.delivered', 1]));
  expect(shapeOf(deliveries(2 * RUN + 1)).map(([, events]) => events)).toEqual([RUN, RUN, 1]);
});

test('another type or other fields end a run', () => {
  const events = [...deliveries(RUN), verified('demo'), ...deliveries(RUN)];
  expect(shapeOf(events).map(([, count]) => count)).toEqual([RUN, 1, RUN]);
  const [one] = deliveries(1);
  const other = { ...one, data: { ...one?.data, from: '22670000099' } } as NewEvent;
  expect(shapeOf([...deliveries(RUN - 1), other])).toHaveLength(RUN);
});

test('a run stores the common part of its events once, and returns each event in full', () => {
  const events = deliveries(RUN).map((event, index) => ({
    ...event,
    at: 1000 - index,
    data: { ...event.data, position: index, metadata: index % 2 === 0 ? null : { order: `${index}` }, tags: ['a'] },
  })) as NewEvent[];
  const [row] = eventRows(events);
  expect(row).toMatchObject({ events: RUN, at: 1000 });
  expect(row?.data.match(/INFOS/g)).toHaveLength(1);
  const stored = { sequence: RUN, earlier: RUN - 1, type: row?.type, at: 1000, data: row?.data };
  expect(contentsOf(stored)).toEqual(events.map(({ at, data }) => ({ at, data })));
  expect(Object.keys(contentsOf(stored)[0]?.data ?? {})).toEqual(Object.keys(events[0]?.data ?? {}));
  // As texts, in the order of the fields.
  const texts = events.map(({ type, at, data }, index) => ({
    sequence: index + 1,
    type,
    at,
    data: JSON.stringify(data),
  }));
  expect(storedEvents(stored)).toEqual(texts);
});

test('the row of a single event has its data unchanged', () => {
  const [event] = deliveries(1);
  if (!event) throw new Error('No event.');
  expect(contentText([event])).toBe(JSON.stringify(event.data));
});
