import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Send } from '../../../../src/outbox/accept/send.js';
import { readWindow } from '../../../../src/outbox/windows/read-window.js';
import { aSend } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { DeliveryFixture } from '../../../support/outbox/delivery-fixture.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

// The clock of the fixture begins at 10:00 UTC on Saturday, 21 November 2026.
const OPEN = readWindow({ from: '08:00', to: '10:30', zone: 'UTC' });
const CLOSED = readWindow({ from: '08:00', to: '10:00', zone: 'UTC' });
const OPENING = Date.parse('2026-11-22T08:00:00Z');

async function setup(): Promise<DeliveryFixture> {
  return opened(await DeliveryFixture.open());
}

/** A send that is due now, as after a pause, an outage or a long wait for the carrier. */
function due(schedule: Send['schedule'], index = 0): Send {
  return aSend(index, { schedule });
}

function nextDue({ storage }: DeliveryFixture): Promise<number | undefined> {
  return storage.outbox.nextDue('sms');
}

describe('a due delivery', () => {
  test('is handed over while its window is open', async () => {
    const fixture = await setup();
    await fixture.accept(due({ window: OPEN }));
    fixture.worker();
    await fixture.pass(1000);
    expect([await fixture.status(), fixture.channel.batches.length]).toEqual(['delivered', 1]);
  });

  test('goes on at the next opening if its window has closed, without counting an attempt', async () => {
    const fixture = await setup();
    await fixture.accept(due({ window: CLOSED }), aSend(1));
    fixture.worker();
    await fixture.pass(1000);
    const [waiting] = await fixture.storage.outbox.recipients(aSend(0).id);
    // It is shown as queued, because nobody has tried to hand it over.
    expect(waiting).toMatchObject({ status: 'queued', error: undefined });
    expect([await fixture.status(1), await nextDue(fixture)]).toEqual(['delivered', OPENING]);
    await fixture.pass(OPENING - fixture.clock.now() - MINUTE, 10 * MINUTE);
    expect(fixture.channel.batches.flat()).toHaveLength(1);
    await fixture.pass(2 * MINUTE, 1000);
    expect(fixture.channel.batches.flat()).toMatchObject([{ attempt: 1 }, { messageId: aSend(0).id, attempt: 1 }]);
    expect([await fixture.status(), await fixture.books()]).toEqual(['delivered', []]);
  });

  test('is tried again at the next opening if the wait for the retry ends after the window', async () => {
    const fixture = await setup();
    fixture.channel.carrier = async (batch) => batch.map(() => ({ kind: 'retry', error: 'busy' }));
    // The window closes half a second after the first attempt, and the retry would be due after 750 ms.
    await fixture.pass(30 * MINUTE - 500, 10 * MINUTE);
    await fixture.accept(due({ window: OPEN }));
    fixture.worker();
    await fixture.pass(400);
    expect([await fixture.status(), await nextDue(fixture)]).toEqual(['queued', OPENING]);
    await fixture.pass(OPENING - fixture.clock.now() + 500, 10 * MINUTE);
    await fixture.pass(500);
    expect(fixture.channel.batches.flat().map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('is postponed to the next opening if the carrier has no capacity before the window closes', async () => {
    const fixture = await setup();
    const closing = fixture.clock.now() + 30 * MINUTE;
    fixture.channel.carrier = async (batch) =>
      batch.map(() => ({ kind: 'postponed', error: 'rate_limited', until: closing }));
    await fixture.accept(due({ window: OPEN }));
    fixture.worker();
    await fixture.pass(500);
    expect(await nextDue(fixture)).toBe(OPENING);
  });

  test('fails as expired at the end of its validity if that is before the opening', async () => {
    const fixture = await setup();
    const validUntil = fixture.clock.now() + HOUR;
    await fixture.accept(due({ window: CLOSED, validUntil }));
    fixture.worker();
    await fixture.pass(1000);
    expect([await fixture.status(), await nextDue(fixture), await fixture.balance()]).toEqual([
      'queued',
      validUntil,
      999,
    ]);
    await fixture.pass(HOUR + MINUTE, MINUTE);
    const [ended] = await fixture.storage.outbox.recipients(aSend(0).id);
    expect(ended).toMatchObject({ status: 'failed', error: 'expired', refundedUnits: 1 });
    expect([fixture.channel.batches.flat(), await fixture.balance()]).toEqual([[], 1000]);
  });

  test('fails if its window does not open again', async () => {
    const fixture = await setup();
    // The zones of Kosovo are not known.
    const recipients = [{ number: '38344123456', units: 1 }];
    await fixture.accept(aSend(0, { schedule: { window: readWindow({ from: '08:00', to: '10:30' }) }, recipients }));
    fixture.worker();
    await fixture.pass(1000);
    const [ended] = await fixture.storage.outbox.recipients(aSend(0).id);
    expect(ended).toMatchObject({ status: 'failed', error: 'window_closed', refundedUnits: 1 });
    expect(await fixture.balance()).toBe(1000);
  });

  test('waits for a failing carrier from its first opening on, and not from its acceptance', async () => {
    const fixture = await setup();
    const { maxAwayMs } = fixture.channel.timing;
    // It opens on Sundays only, and the channel lets a delivery wait for an hour.
    const sunday = readWindow({ from: '08:00', to: '20:00', days: [7], zone: 'UTC' });
    fixture.channel.carrier = async (batch) =>
      batch.map(() => ({ kind: 'postponed', error: 'circuit_open', until: fixture.clock.now() + MINUTE, away: true }));
    await fixture.accept(due({ window: sunday }));
    fixture.worker();
    await fixture.pass(OPENING - fixture.clock.now() + maxAwayMs / 2, MINUTE);
    expect(await fixture.status()).toBe('queued');
    await fixture.pass(maxAwayMs, MINUTE);
    expect(await fixture.status()).toBe('failed');
  });

  test('that waits for its window holds up no other delivery of its account', async () => {
    const fixture = await setup();
    await fixture.accept(...Array.from({ length: 30 }, (_, index) => due({ window: CLOSED }, index)), aSend(30));
    fixture.worker({ batchSize: 10 });
    await fixture.pass(3000);
    expect(await fixture.status(30)).toBe('delivered');
    expect(fixture.channel.batches.flat()).toHaveLength(1);
  });
});
