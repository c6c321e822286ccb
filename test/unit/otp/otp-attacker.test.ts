import { describe, expect, test } from '@jest/globals';
import { DAY_MS } from '../../../src/common/time.js';
import { wrongFor } from '../../support/otp/otp-app.js';
import { OtpBench } from '../../support/otp/otp-bench.js';

/** All windows are multiples of this, so a guess can come at the very moment when one ends. */
const ROUND_MS = 300_000;

/**
 * Guesses every five minutes as often as possible, over as many services as help, for this many days. Returns how many
 * guesses were compared.
 */
async function attack(bench: OtpBench, days: number, services: number): Promise<{ compared: number; daily: number[] }> {
  const end = bench.now + days * DAY_MS;
  const guesses: number[] = [];
  while (bench.now < end) {
    for (let index = 0; index < services; index++) {
      const service = `s${index}`;
      const { code } = await bench.send(service);
      if (code === '') continue;
      for (let guess = 1; guess < 6; guess++) {
        if ((await bench.verify(wrongFor(code, guess), service)).kind === 'wrong') guesses.push(bench.now);
      }
    }
    bench.now += ROUND_MS;
  }
  const daily = guesses.map((at) => guesses.filter((other) => other >= at && other < at + DAY_MS).length);
  return { compared: guesses.length, daily };
}

describe('an attacker at full speed', () => {
  test('gets ten guesses a day and thirty in thirty days compared, over all services', async () => {
    const { compared, daily } = await attack(await new OtpBench().open(), 30, 4);
    expect(compared).toBe(30);
    expect(Math.max(...daily)).toBe(10);
  }, 300_000);

  test('would get many more without the locks', async () => {
    const { compared } = await attack(await new OtpBench({ preset: 'none' }).open(), 1, 2);
    expect(compared).toBeGreaterThan(1000);
  }, 300_000);
});
