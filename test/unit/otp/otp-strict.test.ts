import { describe, expect, test } from '@jest/globals';
import { HOUR_MS, SECOND_MS } from '../../../src/common/time.js';
import type { OtpLimits } from '../../../src/otp/otp-limits.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { NUMBER, OtpBench } from '../../support/otp/otp-bench.js';

const OFF: OtpLimits = {
  preset: 'strict',
  cooldownSeconds: 0,
  sends: [],
  sendsPerNumber: [],
  sendsEverywhere: [],
  prefixBreaker: false,
  countryBreaker: false,
  spendPerDay: false,
};

/** The rule that refused, and for how many seconds; undefined if the code was sent. */
async function refusal(bench: OtpBench, service = 's', number = NUMBER, units = 1): Promise<unknown> {
  const { outcome } = await bench.send(service, number, units);
  if (outcome.kind !== 'refused' || outcome.why !== 'policy') return undefined;
  return [outcome.refusal.values.rule, outcome.refusal.retryAfter];
}

const strict = (over: OtpLimits = {}) => new OtpBench({ ...OFF, ...over }).open();
const phone = (prefix: number, index: number) =>
  `22670${String(prefix).padStart(2, '0')}${String(index).padStart(4, '0')}`;

describe('the strict preset', () => {
  test('waits 60 s between sends while a code is pending, and not at all after it was verified', async () => {
    const bench = await strict({ cooldownSeconds: 60 });
    const { code } = await bench.send();
    bench.now += 20 * SECOND_MS;
    expect(await refusal(bench)).toEqual(['cooldown', 40]);
    expect(await refusal(bench, 'other')).toBeUndefined();
    bench.now += 40 * SECOND_MS;
    expect(await refusal(bench)).toBeUndefined();
    expect(await bench.verify(code)).toEqual({ kind: 'verified' });
    expect(await refusal(bench)).toBeUndefined();
  });

  test('allows 5 an hour and 10 a day per number, over all services', async () => {
    const bench = await new OtpBench({
      ...OFF,
      sendsPerNumber: [
        { count: 5, seconds: 3600 },
        { count: 10, seconds: 86_400 },
      ],
    }).open();
    for (let send = 0; send < 5; send++) expect(await refusal(bench, `s${send}`)).toBeUndefined();
    expect(await refusal(bench, 's9')).toEqual(['sends_per_number', 3600]);
    expect(await refusal(bench, 's9', '22670000002')).toBeUndefined();
    bench.now += HOUR_MS;
    for (let send = 0; send < 5; send++) expect(await refusal(bench, `s${send}`)).toBeUndefined();
    bench.now += HOUR_MS;
    expect(await refusal(bench)).toEqual(['sends_per_number', 22 * 3600]);
  });

  test('stops a prefix at five distinct numbers that nobody verified; resends to them go on', async () => {
    const bench = await strict({ prefixBreaker: { count: 5, seconds: 3600 } });
    const { code } = await bench.send('s', phone(1, 0));
    for (let index = 1; index < 5; index++) expect(await refusal(bench, 's', phone(1, index))).toBeUndefined();
    bench.now += 600 * SECOND_MS;
    expect(await refusal(bench, 's', phone(1, 5))).toEqual(['prefix_breaker', 3000]);
    expect(await refusal(bench, 's', phone(1, 3))).toBeUndefined();
    expect(await refusal(bench, 's', phone(2, 5))).toBeUndefined();
    bench.now -= 500 * SECOND_MS;
    expect(await bench.verify(code, 's', phone(1, 0))).toEqual({ kind: 'verified' });
    expect(await refusal(bench, 's', phone(1, 5))).toBeUndefined();
    expect(await refusal(bench, 's', phone(1, 6))).toMatchObject(['prefix_breaker', expect.any(Number)]);
    bench.now += 2 * HOUR_MS;
    expect(await refusal(bench, 's', phone(1, 6))).toBeUndefined();
  });

  test('stops a country at 30 codes an hour if fewer than 20 % are verified', async () => {
    const bench = await strict({ countryBreaker: { codes: 30, verifiedPercent: 20 } });
    const codes: string[] = [];
    for (let index = 0; index < 30; index++) codes.push((await bench.send('s', phone(3, index))).code);
    expect(await refusal(bench, 's', phone(3, 30))).toEqual(['country_breaker', 3600]);
    expect(await refusal(bench, 's', '33612345678')).toBeUndefined();
    for (let index = 0; index < 6; index++) await bench.verify(codes[index] ?? '', 's', phone(3, index));
    expect(await refusal(bench, 's', phone(3, 30))).toBeUndefined();
    // 31 codes, 6 of them verified: again fewer than 20 %.
    expect(await refusal(bench, 's', phone(3, 31))).toMatchObject(['country_breaker', expect.any(Number)]);
    // A resend is not a new code, but it costs as well, so the breaker holds it back too.
    expect(await refusal(bench, 's', phone(3, 29))).toMatchObject(['country_breaker', expect.any(Number)]);
    bench.now += HOUR_MS + 60 * SECOND_MS;
    expect(await refusal(bench, 's', phone(3, 31))).toBeUndefined();
  });

  test('does not count a resend as a code of the country', async () => {
    const bench = await strict({ countryBreaker: { codes: 3, verifiedPercent: 20 } });
    for (let send = 0; send < 5; send++) expect(await refusal(bench, 's', phone(4, 0))).toBeUndefined();
    for (let index = 1; index < 3; index++) expect(await refusal(bench, 's', phone(4, index))).toBeUndefined();
    expect(await refusal(bench, 's', phone(4, 3))).toEqual(['country_breaker', 3600]);
  });

  test('limits the units that an account spends a day, by UTC', async () => {
    const bench = await strict({ spendPerDay: 10 });
    expect(await refusal(bench, 'a', NUMBER, 6)).toBeUndefined();
    expect(await refusal(bench, 'b', NUMBER, 5)).toEqual(['spend_cap', 14 * 3600]);
    expect(await refusal(bench, 'b', NUMBER, 4)).toBeUndefined();
    bench.now += 14 * HOUR_MS;
    expect(await refusal(bench, 'c', NUMBER, 10)).toBeUndefined();
  });

  test('leaves no trace of a refused send in any rule', async () => {
    const bench = await strict({ spendPerDay: 1, prefixBreaker: { count: 5, seconds: 3600 } });
    await bench.send('s', phone(5, 0));
    for (let index = 1; index < 9; index++)
      expect(await refusal(bench, 's', phone(5, index))).toMatchObject(['spend_cap', expect.any(Number)]);
    bench.now += 14 * HOUR_MS;
    expect(await refusal(bench, 's', phone(5, 9))).toBeUndefined();
  });
});

describe('records', () => {
  test('are limited in number, and purged when nobody needs them', async () => {
    const bench = await new OtpBench({ preset: 'strict' }).open();
    for (let index = 0; index < 200; index++) {
      await bench.send('s', phone(index % 7, index));
      await bench.verify('0000', 's', phone(index % 7, index));
      bench.now += 30 * SECOND_MS;
    }
    expect(await bench.storage.store(PolicyStore).purge(bench.now, 9999)).toBeLessThan(200);
    bench.now += 31 * 24 * HOUR_MS;
    await bench.storage.store(PolicyStore).purge(bench.now, 99_999);
    const left = await bench.storage.store(PolicyStore).purge(Number.MAX_SAFE_INTEGER, 99_999);
    expect(left).toBe(0);
  });
});
