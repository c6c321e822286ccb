import { EventLog } from '../../../src/events/event-log.js';
import { EventPublisher } from '../../../src/events/event-publisher.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';

/** A publisher for a process without a log: it publishes events that change no state, and stores them nowhere. */
export function eventPublisher(events: MessagingEvents = new MessagingEvents()): EventPublisher {
  const log: Pick<EventLog, 'append' | 'whenCommitted'> = {
    append: async () => undefined,
    whenCommitted: (_host, task) => task(),
  };
  return new EventPublisher(events, Object.assign(Object.create(EventLog.prototype), log));
}
