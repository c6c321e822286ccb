import { Injectable } from '@nestjs/common';
import type { HostTransaction } from '../common/host-transaction.js';
import { FaultLog, faultCode, nameOf } from '../common/log.js';
import { EventLog } from './event-log.js';
import type { NewEvent } from './event-types.js';
import { MessagingEvents } from './messaging-events.js';

/** Tells this process of events, when they are stored. */
@Injectable()
export class EventPublisher {
  private readonly log = new FaultLog('Events');

  constructor(
    private readonly events: MessagingEvents,
    private readonly stored: EventLog,
  ) {}

  /** Tells of events that a store has recorded with their change; of those in a host's transaction, after its commit. */
  publish(events: readonly NewEvent[], host?: HostTransaction): void {
    const publish = () => {
      for (const event of events) this.events.publish(event);
    };
    if (host && events.length > 0) this.stored.whenCommitted(host, publish);
    else publish();
  }

  /**
   * Tells of an event that changes no state, and stores it in the background: its caller has another answer to give, and may
   * hold a transaction of the host's that a write of ours would wait for. What cannot be stored is logged by its type.
   */
  add(event: NewEvent): void {
    this.events.publish(event);
    this.stored.append([event]).catch((error: unknown) => {
      this.log.warn(`An event ${event.type} could not be stored: ${nameOf(error)}.`, { code: faultCode(error) });
    });
  }
}
