import { expect, test } from '@jest/globals';
import { Purge } from '../../../src/outbox/purge.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { Gate } from '../../support/delivery-world.js';
import { settled } from '../../support/settled.js';

const EVERY_MS = 600_000;

test('a purge that is under way when the application stops ends, and is the last one', async () => {
  const clock = new FakeClock();
  const gate = new Gate();
  let rounds = 0;
  class Endless extends Purge {
    protected override async forget(_now: number, limit: number): Promise<number> {
      rounds++;
      await gate.opened;
      return limit;
    }
  }
  const purge = new Endless('things', clock);
  purge.onApplicationBootstrap();
  clock.advance(EVERY_MS);
  await settled();
  purge.onApplicationShutdown();
  gate.open();
  await settled(20);
  clock.advance(EVERY_MS);
  await settled(20);
  expect(rounds).toBe(1);
});
