import assert from 'node:assert/strict';
import type { OutgoingSms } from '../../../src/sms/sms-transport.js';
import type { TestRunner } from '../test-runner.js';
import type { TransportFixture } from './transport-fixture.js';

export function stopTests({ test }: TestRunner, fixture: TransportFixture): void {
  const batchOf = (size: number) => Array.from({ length: size }, (_, index) => fixture.anSms(fixture.good(index)));

  /** Submits a batch and asserts that each result is true: received once for `sent`, not at all for a result that repeats. */
  async function holds(batch: readonly OutgoingSms[], signal: AbortSignal): Promise<void> {
    const results = await fixture.submit(batch, signal);
    for (const [index, { number }] of batch.entries()) {
      const kind = results[index]?.kind ?? 'nothing';
      const count = (await fixture.received(number)).length;
      if (kind === 'sent') assert.equal(count, 1);
      else if (kind === 'retry' || kind === 'postponed') assert.equal(count, 0);
      else assert.ok(kind === 'unknown' && count <= 1, kind);
    }
  }

  test('a batch that comes when the process wants to stop is answered, and nothing of it is sent without a result', async () => {
    await holds(batchOf(50), AbortSignal.abort());
  });

  test('a stop in the middle of a batch finishes what is on the wire, and the rest is to be tried again', async () => {
    const stopping = new AbortController();
    setImmediate(() => stopping.abort());
    await holds(batchOf(300), stopping.signal);
  });

  test('listens to the signal no longer than a batch lasts', async () => {
    const stopping = new AbortController();
    let listeners = 0;
    const { signal } = stopping;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    for (let turn = 0; turn < 5; turn += 1) await fixture.submit([fixture.anSms(fixture.good(turn))], signal);
    assert.ok(listeners <= 0, `${listeners} listeners are left`);
  });

  test('is stopped a second time without harm', async () => {
    await fixture.submit([fixture.anSms(fixture.good())]);
    await fixture.settles(fixture.transport.stop());
    await fixture.settles(fixture.transport.stop());
  });

  test('is stopped without ever having been used', async () => {
    await fixture.settles(fixture.transport.stop());
  });
}
