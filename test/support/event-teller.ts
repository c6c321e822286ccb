import { EventLog } from '../../src/events/event-log.js';
import { EventTeller } from '../../src/events/event-teller.js';
import { MessagingEvents } from '../../src/events/messaging-events.js';

/** A teller of a process without a log: what changes no state is told, and stored nowhere. */
export function eventTeller(events: MessagingEvents = new MessagingEvents()): EventTeller {
  const log: Pick<EventLog, 'append' | 'whenCommitted'> = {
    append: async () => undefined,
    whenCommitted: (_host, task) => task(),
  };
  return new EventTeller(events, Object.assign(Object.create(EventLog.prototype), log));
}
