import { describe, expect, test } from '@jest/globals';
import { EarlyResults } from '../../../src/sms/sms-channel.js';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { anSms } from '../../support/transports/routed-fixture.js';

const SENT: SubmitResult = { kind: 'sent' };
const BUSY: SubmitResult = { kind: 'retry', error: 'busy' };

function gathering(pass: (results: ReadonlyMap<OutgoingSms, SubmitResult>) => Promise<void> = async () => undefined) {
  const clock = new FakeClock();
  const batch = ['22670000001', '22670000002', '22670000003'].map((number) => anSms(number));
  const passed: (readonly SubmitResult[])[] = [];
  const early = new EarlyResults(batch, clock, (results) => {
    passed.push([...results.values()]);
    return pass(results);
  });
  const take = (index: number, result: SubmitResult) => early.take(batch[index] as OutgoingSms, result);
  return { clock, early, passed, take };
}

describe('early results', () => {
  test('are passed on a second after the first of them, together', async () => {
    const { clock, early, passed, take } = gathering();
    take(0, SENT);
    clock.advance(999);
    take(2, BUSY);
    expect(passed).toEqual([]);
    clock.advance(1);
    expect(passed).toEqual([[SENT, BUSY]]);
    take(1, SENT);
    expect([...(await early.end()).values()]).toEqual([SENT]);
  });

  test('for the same SMS count once: the first', async () => {
    const { clock, early, passed, take } = gathering();
    take(0, SENT);
    take(0, BUSY);
    clock.advance(1000);
    take(0, BUSY);
    clock.advance(1000);
    expect([passed, [...(await early.end())]]).toEqual([[[SENT]], []]);
  });

  test('are no longer accepted once the last pass has ended', async () => {
    let through: () => void = () => undefined;
    const { clock, early, passed, take } = gathering(() => new Promise<void>((resolve) => (through = resolve)));
    take(0, SENT);
    clock.advance(1000);
    take(1, BUSY);
    let ended: ReadonlyMap<OutgoingSms, SubmitResult> | undefined;
    void early.end().then((rest) => (ended = rest));
    await settled();
    expect(ended).toBeUndefined();
    through();
    await settled();
    expect([...(ended?.values() ?? [])]).toEqual([BUSY]);
    take(2, SENT);
    clock.advance(5000);
    expect([passed.length, ended?.size]).toEqual([1, 1]);
  });

  test('wait for those before them, so there is one pass at a time', async () => {
    const through: (() => void)[] = [];
    const { clock, early, passed, take } = gathering(() => new Promise<void>((resolve) => through.push(resolve)));
    take(0, SENT);
    clock.advance(1000);
    take(1, SENT);
    clock.advance(60_000);
    expect(passed).toEqual([[SENT]]);
    take(2, BUSY);
    through[0]?.();
    await settled();
    expect(passed).toHaveLength(1);
    clock.advance(1000);
    expect(passed).toEqual([[SENT], [SENT, BUSY]]);
    through[1]?.();
    expect([...(await early.end())]).toEqual([]);
  });

  test('that could not be passed on are among the results at the end', async () => {
    const { clock, early, take } = gathering(() => Promise.reject(new Error('no')));
    take(0, SENT);
    clock.advance(1000);
    take(1, BUSY);
    expect(new Set((await early.end()).values())).toEqual(new Set([SENT, BUSY]));
  });
});
