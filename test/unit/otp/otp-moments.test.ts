import { describe, expect, test } from '@jest/globals';
import { DAY_MS } from '../../../src/common/time.js';
import { wrongFor } from '../../support/otp/otp-app.js';
import { OtpBench } from '../../support/otp/otp-bench.js';

describe('a resend', () => {
  // The code stays the same up to the moment when exactly this much is left, and is another one a millisecond later.
  test.each([
    { validitySeconds: 100, leftMs: 20_000, why: 'a fifth of a validity under 300 s' },
    { validitySeconds: 10, leftMs: 2000, why: 'a fifth of a validity under 300 s' },
    { validitySeconds: 300, leftMs: 60_000, why: '60 s' },
    { validitySeconds: 600, leftMs: 60_000, why: '60 s of a longer one' },
  ])('repeats the code while $why is left: $leftMs ms of $validitySeconds s', async ({ validitySeconds, leftMs }) => {
    const bench = await new OtpBench({}, { validitySeconds }).open();
    const otpIdOf = async () => Reflect.get(Object((await bench.send()).outcome), 'reply').otpID;
    const first = await otpIdOf();
    bench.now += validitySeconds * 1000 - leftMs;
    expect(await otpIdOf()).toBe(first);
    bench.now += 1;
    expect(await otpIdOf()).not.toBe(first);
  });

  test('attaches the code to its newest 20 messages', async () => {
    const bench = await new OtpBench({ sends: [] }, { validitySeconds: 3600 }).open();
    const sends = [];
    for (let send = 0; send < 21; send++) sends.push(await bench.send());
    expect(new Set(sends.map(({ code }) => code)).size).toBe(1);
    const [{ code } = { code: '' }, last, ...others] = sends;
    for (const { id } of others) await bench.fail(id);
    expect(await bench.verify(wrongFor(code))).toEqual({ kind: 'wrong', triesLeft: 2 });
    // This is the twentieth from the end. The message before it did not fail, and that no longer counts.
    await bench.fail(last?.id ?? '');
    expect(await bench.verify(code)).toEqual({ kind: 'not_found' });
  });
});

test('a lock ends to the millisecond', async () => {
  const bench = await new OtpBench({ wrongTries: [{ count: 3, seconds: DAY_MS / 1000 }] }).open();
  const { code } = await bench.send();
  for (const step of [1, 2, 3]) expect(await bench.verify(wrongFor(code, step))).toMatchObject({ kind: 'wrong' });
  bench.now += DAY_MS - 1;
  const { code: next } = await bench.send('other');
  expect(await bench.verify(next, 'other')).toEqual({ kind: 'locked', retryAfter: 1 });
  bench.now += 1;
  expect(await bench.verify(next, 'other')).toEqual({ kind: 'verified' });
});
