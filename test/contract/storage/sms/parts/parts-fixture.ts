import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { DeliveryTransition } from '../../../../../src/outbox/outbox-records.js';
import type { Parking } from '../../../../../src/sms/receipts/part-store.js';
import type { DatedReceipt, TakenSms } from '../../../../../src/sms/receipts/sms-part.js';
import { aSend, messageId, range, START } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';

/** Receipts are parked for ten minutes; the limit is never reached. */
export const PARKING: Parking = { now: START + 5 * SECOND_MS, until: START + 600 * SECOND_MS, most: 1000 };

/** Helpers for the tests of parts and receipts. */
export class PartsFixture {
  constructor(private readonly world: StorageFixture) {}

  /** Accepts sends 0 to `count` - 1 of one recipient and `units` each, and settles all as `sent`. */
  async sent(count: number, units = 1): Promise<void> {
    await this.world.fund(count * units);
    const sends = range(count).map((index) => {
      const send = aSend(index);
      return { ...send, recipients: send.recipients.map(({ number }) => ({ number, units })) };
    });
    await this.world.accept(...sends);
    await this.world.claim({ limit: count });
    for (const index of range(count)) await this.world.settle(messageId(index), 'sent', { attempt: 1 });
  }

  record(...taken: readonly TakenSms[]): Promise<readonly DeliveryTransition[]> {
    return this.world.parts.record(taken, PARKING.now);
  }

  receive(...receipts: readonly DatedReceipt[]): Promise<readonly DeliveryTransition[]> {
    return this.world.parts.receive(receipts, PARKING);
  }

  /** The status of the first recipient of a send. */
  async status(index: number): Promise<string | undefined> {
    return (await this.world.outbox.recipients(messageId(index)))[0]?.status;
  }

  /** The statuses of the parts of a send. */
  async parts(index: number): Promise<readonly string[]> {
    return (await this.world.parts.parts(messageId(index))).map(({ status }) => status);
  }

  /** Asserts that these receipts change no part, state, unit or trail. */
  async changeNothing(index: number, ...receipts: readonly DatedReceipt[]): Promise<void> {
    const before = await this.everything(index);
    assert.deepEqual(await this.receive(...receipts), []);
    assert.deepEqual(await this.everything(index), before);
    await this.world.sound();
  }

  private async everything(index: number): Promise<unknown> {
    const { parts, outbox, ledger } = this.world;
    const id = messageId(index);
    const entries = await ledger.entries('acc1', { limit: 100 });
    return [await parts.parts(id), await outbox.recipients(id), await outbox.trail(id), entries];
  }
}
