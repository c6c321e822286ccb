import { expect } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { EventLog } from '../../../src/events/event-log.js';
import { EventRecorder } from '../../../src/events/event-recorder.js';
import {
  EVENT_TYPES,
  type EventType,
  type MessagingEvent,
  type NewEvent,
  toMessagingEvent,
} from '../../../src/events/event-types.js';
import type { MessagingEvents } from '../../../src/events/messaging-events.js';
import { loggedFault } from './event-schemas.js';

/** Stores events as a change of the state would, in one transaction. */
export async function logEvents(log: EventLog, events: readonly NewEvent[]): Promise<void> {
  const recorder: unknown = Reflect.get(log, 'recorder');
  if (!(recorder instanceof EventRecorder)) throw new Error('This log has no recorder.');
  await recorder.write(function* ({ publish }) {
    for (const event of events) publish(event);
    yield* [];
  });
}

/** The same in a running application. */
export function logEventsOf({ app }: { readonly app: INestApplication }, events: readonly NewEvent[]): Promise<void> {
  return logEvents(app.get(EventLog, { strict: false }), events);
}

/** A delivery that arrived, the `position`th of its send. */
export function delivered(accountId: string, position = 0): NewEvent {
  return {
    type: 'message.delivered',
    accountId,
    at: Date.UTC(2026, 10, 22, 10),
    data: {
      id: '01a1fe2d',
      channel: 'sms',
      position,
      number: '22670000000',
      signature: 'INFOS',
      status: 'delivered',
      error: null,
      units: 1,
      refunded_units: 0,
      accepted_at: '2026-11-22T09:59:59.000Z',
      metadata: null,
    },
  };
}

/** A code that was verified. */
export function verified(accountId: string): NewEvent {
  return {
    type: 'otp.verified',
    accountId,
    at: Date.UTC(2026, 10, 22, 10),
    data: { service: 'Boutique', number: '22670000000' },
  };
}

/**
 * The whole log of an account, as listeners get it, after the marks have received their numbers. Checks each event by
 * its schema.
 */
export async function loggedEvents(log: EventLog, accountId: string): Promise<readonly MessagingEvent[]> {
  while ((await log.numberMarks(100)) > 0);
  const { events } = await log.read({ accountId, after: 0, limit: 500 });
  expect(events.flatMap((event) => loggedFault(event) ?? [])).toEqual([]);
  return events.map(toMessagingEvent);
}

/** Keeps the events of some types that reach an account's process. */
export function heardEvents(
  events: MessagingEvents,
  accountId: string,
  types: readonly EventType[] = EVENT_TYPES,
): readonly MessagingEvent[] {
  const heard: MessagingEvent[] = [];
  events.on(types, (event) => {
    if (event.account === accountId) heard.push(event);
  });
  return heard;
}

/**
 * Sorts events, so that two lists can be compared. The log gets some events later than the process does, so both have
 * another order.
 */
export function sorted(events: readonly MessagingEvent[]): readonly MessagingEvent[] {
  return events.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
