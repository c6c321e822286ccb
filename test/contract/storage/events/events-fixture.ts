import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { EventLog } from '../../../../src/events/event-log.js';
import type { EventType } from '../../../../src/events/event-types.js';
import { type EventLogState, type LoggedEvent } from '../../../../src/events/stored-event.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import type { DeliveryUpdate } from '../../../../src/outbox/delivery-state.js';
import { ACCOUNT, messageId, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** More than any test records. */
const ALL = 1000;

/** Steps of tests on the log of events. */
export class EventsFixture {
  constructor(private readonly world: StorageFixture) {}

  get log(): EventLog {
    return this.world.storage.store(EventLog);
  }

  /** An account that records, and its sends that are claimed. */
  async sending(...sends: readonly Send[]): Promise<void> {
    await this.world.fund(1000);
    await this.log.switchOn(ACCOUNT, START);
    await this.world.accept(...sends);
    await this.world.claim({ limit: ALL });
  }

  /** Settles recipients of one message, a second after `START`. */
  settle(message: number, status: DeliveryUpdate['status'], ...positions: readonly number[]) {
    const update = { messageId: messageId(message), status, at: START + SECOND_MS };
    return this.world.outbox.settle(positions.map((position) => ({ ...update, position })));
  }

  /** All events of the account, with a proof that there is no gap. */
  async events(accountId = ACCOUNT): Promise<readonly LoggedEvent[]> {
    const { events, earliest, last } = await this.log.read({ accountId, after: 0, limit: ALL });
    const numbers = events.map(({ sequence }) => sequence);
    assert.deepEqual(
      numbers,
      range(last - earliest + 1).map((index) => earliest + index),
    );
    return events;
  }

  /** The state of a log without its random marks. */
  async state(accountId = ACCOUNT): Promise<Omit<EventLogState, 'epochs'>> {
    const { epochs: _, ...state } = await this.log.state(accountId);
    return state;
  }

  /** The events as `type position`, in the order of the numbers. */
  async published(accountId = ACCOUNT): Promise<readonly string[]> {
    return (await this.events(accountId)).map(({ type, data }) =>
      'position' in data ? `${type} ${data.position}` : type,
    );
  }

  /** The numbers that a reader of some types gets. */
  async numbers(types: readonly EventType[] | undefined, after: number, limit = ALL): Promise<readonly number[]> {
    const { events } = await this.log.read({ accountId: ACCOUNT, after, limit, types });
    return events.map(({ sequence }) => sequence);
  }
}
