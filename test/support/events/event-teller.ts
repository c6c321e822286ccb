import { EventLog } from '../../../src/events/event-log.js';
import { EventPublisher } from '../../../src/events/event-publisher.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';

/** A teller of a process without a log: what changes no state is told, and stored nowhere. */
export function eventTeller(events: MessagingEvents = new MessagingEvents()): EventPublisher {
  const log: Pick<EventLog, 'append' | 'whenCommitted'> = {
    append: async () => undefined,
    whenCommitted: (_host, task) => task(),
  };
  return new EventPublisher(events, Object.assign(Object.create(EventLog.prototype), log));
}
