import { expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../src/common/time.js';
import type { OtpLimits } from '../../../src/otp/otp-limits.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OtpApp, wrongFor } from '../../support/otp/otp-app.js';

const NUMBER = '22670000001';
const ONCE = [{ count: 1, seconds: 120 }];

const opened = closeAfterEach();

describeOnOneAdapter('Retry-After', (adapter) => {
  const start = async (limits: OtpLimits) => opened(await OtpApp.start(adapter, { otp: { limits } }));

  const RULES: readonly [name: string, limits: OtpLimits, windowSeconds: number, others?: readonly string[]][] = [
    ['a cooldown', { cooldownSeconds: 60 }, 60],
    ['sends', { sends: ONCE }, 120],
    ['sends of a number', { sendsPerNumber: ONCE }, 120],
    ['sends everywhere', { sendsEverywhere: ONCE }, 120],
    ['a prefix', { prefixBreaker: { count: 1, seconds: 120 } }, 120, ['22670000002']],
    ['a country', { countryBreaker: { codes: 1, verifiedPercent: 100 } }, 3600],
    ['the spend of a day', { spendPerDay: 1 }, 86_400],
  ];

  test.each(RULES)('of %s never exceeds its window, even if the clock is set back', async (...rule) => {
    const [, limits, windowSeconds, others = [NUMBER]] = rule;
    const app = await start({ preset: 'none', ...limits });
    expect((await app.send({ service: 'Boutique', number: NUMBER })).status).toBe(200);
    for (const setBackMs of [0, HOUR_MS]) {
      app.clock.advance(-setBackMs);
      for (const number of others) {
        const { status, headers } = await app.send({ service: 'Boutique', number });
        expect(status).toBe(429);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(windowSeconds);
      }
    }
  });

  test('of a lock never exceeds its window, even if the clock is set back', async () => {
    const app = await start({ preset: 'none', wrongTries: ONCE });
    const code = await app.codeFor(NUMBER);
    const attempt = { service: 'Boutique', number: NUMBER };
    expect((await app.verify({ ...attempt, otp: wrongFor(code) })).status).toBe(400);
    for (const setBackMs of [0, HOUR_MS]) {
      app.clock.advance(-setBackMs);
      const { status, headers } = await app.verify({ ...attempt, otp: code });
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(120);
    }
  });
});
