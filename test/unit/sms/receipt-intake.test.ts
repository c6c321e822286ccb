import { beforeEach, describe, expect, test } from '@jest/globals';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import type { DeliveryTransition } from '../../../src/outbox/outbox-records.js';
import { type Parking, PartStore } from '../../../src/sms/receipts/part-store.js';
import { ReceiptIntake } from '../../../src/sms/receipts/receipt-intake.js';
import type { DatedReceipt } from '../../../src/sms/receipts/sms-part.js';
import type { CarrierReceipt } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

/** Keeps what it is given, and answers when its gate opens. */
class WatchedParts extends PartStore {
  readonly calls: { receipts: readonly DatedReceipt[]; parking: Parking }[] = [];
  gate = new Gate();
  fault: (receipts: readonly DatedReceipt[]) => Error | undefined = () => undefined;

  override async receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly DeliveryTransition[]> {
    this.calls.push({ receipts, parking });
    await this.gate.opened;
    const fault = this.fault(receipts);
    if (fault) throw fault;
    return [];
  }
}

const receipt = (id: string, over: Partial<CarrierReceipt> = {}): CarrierReceipt => ({
  route: 'link',
  ids: [id],
  status: 'delivered',
  ...over,
});

describe('the intake of receipts', () => {
  let parts: WatchedParts;
  let clock: FakeClock;
  let intake: ReceiptIntake;
  beforeEach(async () => {
    parts = new WatchedParts((await SqliteMemory.open()).db);
    parts.gate.open();
    clock = new FakeClock();
    intake = new ReceiptIntake(parts, new MessagingEvents(), clock);
  });

  const stored = () => parts.calls.map(({ receipts }) => receipts.map(({ ids }) => ids[0]));

  test('stores a single receipt at once, and those that come meanwhile together', async () => {
    parts.gate = new Gate();
    const first = intake.receive([receipt('1')]);
    const others = ['2', '3', '4'].map((id) => intake.receive([receipt(id)]));
    await settled();
    expect(stored()).toEqual([['1']]);
    parts.gate.open();
    await Promise.all([first, ...others]);
    expect(stored()).toEqual([['1'], ['2', '3', '4']]);
  });

  test('stores at most 500 together, but a larger call as a whole', async () => {
    parts.gate = new Gate();
    const pieces = [1, 300, 200, 1, 700, 1].map((size, piece) =>
      intake.receive(Array.from({ length: size }, (_, index) => receipt(`${piece}.${index}`))),
    );
    parts.gate.open();
    await Promise.all(pieces);
    expect(stored().map((batch) => batch.length)).toEqual([1, 500, 1, 700, 1]);
  });

  test('has callers try again while the storage is unavailable, and goes on when it is back', async () => {
    parts.fault = () => new StorageUnavailableError('no connection');
    const failed = await Promise.allSettled([intake.receive([receipt('1')]), intake.receive([receipt('2')])]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    parts.fault = () => undefined;
    await expect(intake.receive([receipt('3')])).resolves.toBeUndefined();
  });

  test('does not let a receipt that cannot be stored fail the others', async () => {
    parts.gate = new Gate();
    parts.fault = (receipts) => (receipts.some(({ ids }) => ids[0] === 'bad') ? new Error('a fault') : undefined);
    const pieces = ['1', '2', 'bad', '3'].map((id) => intake.receive([receipt(id)]));
    parts.gate.open();
    const ends = (await Promise.allSettled(pieces)).map(({ status }) => status);
    expect(ends).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  });

  test('makes receipts fit to be stored', async () => {
    const now = clock.now();
    await intake.receive([
      receipt('', { ids: ['', 'a', 'a', 'é'], at: now + 1, error: 'a\u0000b', number: '22670000000' }),
      receipt('b', { at: now - 1000, number: '+226 70' }),
    ]);
    expect(parts.calls[0]?.receipts).toEqual([
      {
        route: 'link',
        ids: ['a', expect.stringMatching(/^sha256:/)],
        status: 'delivered',
        at: now + 1,
        atByCarrier: true,
        number: '22670000000',
        error: 'a\ufffdb',
      },
      { route: 'link', ids: ['b'], status: 'delivered', at: now - 1000, atByCarrier: true },
    ]);
    expect(parts.calls[0]?.parking).toEqual({ now, until: now + 600_000, most: 50_000 });
  });

  test('takes a receipt without a valid time as received now, and logs that', async () => {
    const times = [undefined, Number.NaN, 0.5, Number.POSITIVE_INFINITY];
    await intake.receive(times.map((at) => ({ ...receipt('a'), ...(at === undefined ? {} : { at }) })));
    const from = { route: 'link', ids: ['a'], status: 'delivered', at: clock.now(), atByCarrier: false };
    expect(parts.calls[0]?.receipts).toEqual(times.map(() => from));
  });

  test('tries at most sixteen ids', async () => {
    await intake.receive([receipt('', { ids: Array.from({ length: 40 }, (_, index) => `${index}`) })]);
    expect(parts.calls[0]?.receipts[0]?.ids).toHaveLength(16);
  });

  test('stores that an SMS is on its way only if no other receipt may follow', async () => {
    await intake.receive([receipt('a', { status: 'sent', mayBeLast: true }), receipt('b', { status: 'sent' })]);
    const from = { at: clock.now(), atByCarrier: false };
    expect(parts.calls[0]?.receipts).toEqual([{ route: 'link', ids: ['a'], status: 'sent', ...from }]);
  });

  test('does not access the storage for a receipt that says nothing', async () => {
    await intake.receive([]);
    await intake.receive([receipt('a', { status: 'sent' }), receipt('', { ids: ['', ''] })]);
    expect(parts.calls).toEqual([]);
  });
});
