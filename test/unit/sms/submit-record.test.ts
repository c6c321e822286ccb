import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import type { DeliveryTransition } from '../../../src/outbox/outbox-records.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import type { TakenSms } from '../../../src/sms/receipts/sms-part.js';
import { SubmitRecord } from '../../../src/sms/receipts/submit-record.js';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

/** Counts what it is asked, and fails as often as told. */
class WatchedParts extends PartStore {
  readonly calls: (readonly TakenSms[])[] = [];
  readonly faults: Error[] = [];

  override async record(taken: readonly TakenSms[], now: number): Promise<readonly DeliveryTransition[]> {
    this.calls.push(taken);
    const fault = this.faults.shift();
    if (fault) throw fault;
    return super.record(taken, now);
  }
}

const SMS: OutgoingSms = {
  smsId: 'm',
  position: 3,
  signature: 'INFOS',
  number: '22670000000',
  text: 'Bonjour',
  attempt: 2,
};

describe('the record of a submit', () => {
  let parts: WatchedParts;
  let clock: FakeClock;
  let record: SubmitRecord;
  let stopping: AbortController;
  const differences = jest.fn();
  const errors: string[] = [];

  beforeEach(async () => {
    parts = new WatchedParts((await SqliteMemory.open()).db);
    clock = new FakeClock();
    stopping = new AbortController();
    const events = new MessagingEvents();
    events.on('sms.segments_differ', differences);
    record = new SubmitRecord(parts, events, clock);
    jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void errors.push(String(line)));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    differences.mockClear();
    errors.length = 0;
  });

  const keep = (results: readonly SubmitResult[]) =>
    record.keep(
      results.map(() => SMS),
      results,
      {
        name: 'carrier',
        reportDeadlineMs: 1000,
        patientUntil: clock.elapsed() + 10_000,
        signal: stopping.signal,
      },
    );

  test('passes plain results on unchanged and does not access the storage', async () => {
    const results: SubmitResult[] = [
      { kind: 'sent', final: 'delivered' },
      { kind: 'sent' },
      { kind: 'refused', error: 'no' },
      { kind: 'sent', final: 'delivered', carrierIds: ['1'] },
      { kind: 'retry', error: 'later', carrierIds: ['1'] },
      { kind: 'sent', carrierIds: ['', ''] },
    ];
    const handOffs = await keep(results);
    expect(handOffs[0]).toBe(results[0]);
    expect(handOffs.map(({ kind }) => kind)).toEqual(results.map(({ kind }) => kind));
    expect(handOffs.slice(0, 3).map(({ trail }) => trail)).toEqual([undefined, undefined, undefined]);
    expect(parts.calls).toEqual([]);
  });

  test('stores the parts of SMS that were taken or are in doubt, and odd ids under a name', async () => {
    const at = clock.now();
    await keep([
      { kind: 'sent', carrierIds: ['1', 'é', ''], route: 'link' },
      { kind: 'unknown', error: 'silence', carrierIds: ['2', ''] },
    ]);
    const base = { messageId: 'm', position: 3, attempt: 2, number: '22670000000', at };
    expect(parts.calls).toHaveLength(1);
    expect(parts.calls[0]).toMatchObject([
      { ...base, route: 'link', carrierIds: ['1', expect.stringMatching(/^sha256:/), ''], expiresAt: at + 86_401_000 },
      { ...base, route: 'carrier', carrierIds: ['2', ''] },
    ]);
  });

  test('keeps each attempt', async () => {
    const attempts = [
      { route: 'one', outcome: 'retry', code: '88\u0000', at: 1 },
      { route: 'two', outcome: 'sent', at: 2 },
    ] as const;
    const [tried, itself, refused] = await keep([
      { kind: 'sent', attempts, trail: [{ at: 0, note: 'own' }] },
      { kind: 'sent', carrierIds: ['1'] },
      { kind: 'refused', error: '11', route: 'link' },
    ]);
    expect(tried?.trail).toEqual([{ at: 0, note: 'own' }, { ...attempts[0], code: '88\ufffd' }, attempts[1]]);
    expect(itself?.trail).toEqual([{ at: clock.now(), route: 'carrier', outcome: 'sent' }]);
    expect(refused?.trail).toEqual([{ at: clock.now(), route: 'link', outcome: 'refused', code: '11' }]);
  });

  test('keeps the carrier’s count of segments beside ours, and logs a difference', async () => {
    const [same, other] = await keep([
      { kind: 'sent', segments: 1 },
      { kind: 'sent', segments: 3, route: 'link' },
    ]);
    expect(same?.trail).toMatchObject([{ segments: 1, our_segments: 1 }]);
    expect(other?.trail).toMatchObject([{ route: 'link', segments: 3, our_segments: 1 }]);
    expect(differences.mock.calls).toEqual([[{ messageId: 'm', position: 3, route: 'link', ours: 1, carriers: 3 }]]);
  });

  test('makes a carrier’s words fit for the outbox', async () => {
    const [sent] = await keep([{ kind: 'sent', reference: `a\u0000${'x'.repeat(300)}`, error: '\ud800' }]);
    expect(sent).toMatchObject({ reference: expect.stringMatching(/^a\ufffdx{198}$/), error: '\ufffd' });
  });

  test('accepts no more results than there are SMS, and no more ids than an SMS can have parts', async () => {
    const carrierIds = Array.from({ length: 10_000 }, (_, index) => `${index}`);
    const results: SubmitResult[] = [
      { kind: 'sent', carrierIds },
      { kind: 'sent', carrierIds: ['late'] },
    ];
    const submit = { name: 'carrier', reportDeadlineMs: 1000, patientUntil: 0, signal: stopping.signal };
    expect(await record.keep([SMS], results, submit)).toHaveLength(1);
    expect(await parts.parts('m')).toHaveLength(255);
  });

  test('reports SMS that the transport left out as in doubt', async () => {
    const signal = stopping.signal;
    const submit = { name: 'carrier', reportDeadlineMs: 1000, patientUntil: 0, signal };
    expect(await record.keep([SMS, SMS], [{ kind: 'sent' }], submit)).toEqual([
      { kind: 'sent' },
      { kind: 'unknown', error: 'no_answer' },
    ]);
  });

  test('asks an unavailable storage again, and answers when the parts are stored', async () => {
    parts.faults.push(new StorageUnavailableError('away'), new StorageUnavailableError('away'));
    let done = false;
    const kept = keep([{ kind: 'sent', carrierIds: ['1'] }]).then(() => {
      done = true;
    });
    await settled();
    expect(done).toBe(false);
    clock.advance(1000);
    await settled();
    clock.advance(1000);
    await kept;
    expect(parts.calls).toHaveLength(3);
    expect(await parts.parts('m')).toHaveLength(1);
  });

  const away = (times: number) => {
    for (let fault = 0; fault < times; fault++) parts.faults.push(new StorageUnavailableError('away'));
  };
  const advance = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000);
      await settled();
    }
  };
  const LOST = 'The parts of SMS could not be stored. Receipts for 1 SMS will be missed.';

  test('gives the results when most of the lease is over, and goes on storing the parts', async () => {
    away(25);
    const kept = keep([{ kind: 'sent', carrierIds: ['1'] }]);
    await settled();
    await advance(10);
    expect((await kept)[0]?.kind).toBe('sent');
    expect(await parts.parts('m')).toEqual([]);
    await advance(30);
    expect(await parts.parts('m')).toHaveLength(1);
    expect(parts.calls).toHaveLength(26);
    expect(errors).toEqual([]);
  });

  test('has one call of the storage under way, however many batches could not be stored', async () => {
    away(1000);
    const kept = Array.from({ length: 20 }, () => keep([{ kind: 'sent', carrierIds: ['1'] }]));
    await settled();
    await advance(10);
    await Promise.all(kept);
    const before = parts.calls.length;
    await advance(30);
    expect(parts.calls.length - before).toBeLessThanOrEqual(30);
    parts.faults.length = 0;
    await advance(2);
    const [first] = await parts.parts('m');
    expect(first).toBeDefined();
    expect(parts.calls.length - before).toBeLessThanOrEqual(31 + 20);
    expect(errors).toEqual([]);
  });

  test('gives up parts when receipts are no longer parked for them', async () => {
    away(1000);
    await Promise.all([keep([{ kind: 'sent', carrierIds: ['1'] }]), settled().then(() => advance(10))]);
    await advance(590);
    expect(errors).toEqual([]);
    await advance(20);
    expect(errors).toEqual([LOST]);
    const { length } = parts.calls;
    await advance(20);
    expect(parts.calls).toHaveLength(length);
  });

  test('keeps at most 50 000 SMS whose parts could not be stored', async () => {
    away(1000);
    const many = (count: number) => keep(Array.from({ length: count }, () => ({ kind: 'sent', carrierIds: ['1'] })));
    await Promise.all([many(49_999), settled().then(() => advance(10))]);
    await Promise.all([many(2), settled().then(() => advance(10))]);
    expect(errors).toEqual(['The parts of SMS could not be stored. Receipts for 2 SMS will be missed.']);
    await Promise.all([many(1), settled().then(() => advance(10))]);
    expect(errors).toHaveLength(1);
  });

  test('tries once more when the process stops, and then gives up', async () => {
    away(1000);
    const kept = keep([{ kind: 'sent', carrierIds: ['1'] }]);
    await settled();
    stopping.abort();
    expect((await kept)[0]?.kind).toBe('sent');
    expect(errors).toEqual([LOST]);
  });

  test('tries once more when the process stops after the results were given', async () => {
    away(11);
    await Promise.all([keep([{ kind: 'sent', carrierIds: ['1'] }]), settled().then(() => advance(10))]);
    parts.faults.length = 0;
    stopping.abort();
    await settled();
    expect(await parts.parts('m')).toHaveLength(1);
  });

  test('does not ask again after a fault', async () => {
    parts.faults.push(new Error('a fault'));
    expect((await keep([{ kind: 'sent', carrierIds: ['1'] }]))[0]?.kind).toBe('sent');
    expect(parts.calls).toHaveLength(1);
  });
});
