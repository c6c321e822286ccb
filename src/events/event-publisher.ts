import { Injectable } from '@nestjs/common';
import type { HostTransaction } from '../common/host-transaction.js';
import { FaultLog, faultCode, nameOf } from '../common/log.js';
import { EventLog } from './event-log.js';
import type { NewEvent } from './event-types.js';
import { MessagingEvents } from './messaging-events.js';

/** Publishes events to the listeners of this process, once they are stored. */
@Injectable()
export class EventPublisher {
  private readonly log = new FaultLog('Events');

  constructor(
    private readonly events: MessagingEvents,
    private readonly stored: EventLog,
  ) {}

  /**
   * Publishes events that a store has recorded with their change. Events of a host's transaction are published after
   * its commit.
   */
  publish(events: readonly NewEvent[], host?: HostTransaction): void {
    const publish = () => {
      for (const event of events) this.events.publish(event);
    };
    if (host && events.length > 0) this.stored.whenCommitted(host, publish);
    else publish();
  }

  /**
   * Publishes an event that changes no state, and stores it in the background. The caller does not wait for it: it has
   * its own answer to give, and it may be inside a transaction of the host that our write would have to wait for. If
   * the event cannot be stored, its type is logged.
   */
  add(event: NewEvent): void {
    this.events.publish(event);
    this.stored.append([event]).catch((error: unknown) => {
      this.log.warn(`An event ${event.type} could not be stored: ${nameOf(error)}.`, { code: faultCode(error) });
    });
  }
}
