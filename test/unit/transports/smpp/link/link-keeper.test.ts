import { beforeAll, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type LinkBind, LinkKeeper } from '../../../../../src/transports/smpp/link/link-keeper.js';
import { SetBackClock } from '../../../../support/common/set-back-clock.js';
import { settled } from '../../../../support/common/settled.js';

beforeAll(() => Logger.overrideLogger(false));

const FIRST_MS = 1000;
const MAX_MS = 20_000;

/**
 * A link whose connections are lost at once, or are never established. Random numbers are 1, so that each wait is the
 * longest of its round.
 */
class Fixture {
  readonly clock = new SetBackClock();
  /** When a bind was requested, by the clock's `elapsed`. */
  readonly asked: number[] = [];
  /** Ends the open bind. */
  lose: () => void = () => undefined;

  constructor(open: 'never' | 'until it is lost') {
    const keeper = new LinkKeeper(
      'link',
      { firstMs: FIRST_MS, maxMs: MAX_MS },
      async () => {
        this.asked.push(this.clock.elapsed());
        if (open === 'never') throw new Error('connection refused');
        return this.bind();
      },
      () => undefined,
      () => undefined,
      this.clock,
      () => 1,
    );
    keeper.start();
  }

  /** The waits before each of the next binds, each of which is lost `heldMs` after it was opened. */
  async waits(count: number, heldMs = 0): Promise<number[]> {
    const waits: number[] = [];
    while (waits.length < count) {
      await settled(2);
      this.clock.advance(heldMs);
      const [lost, before] = [this.clock.elapsed(), this.asked.length];
      this.lose();
      await settled(2);
      while (this.asked.length === before) {
        this.clock.advance(500);
        await settled(2);
      }
      waits.push(this.clock.elapsed() - lost);
    }
    return waits;
  }

  private bind(): LinkBind {
    const ended = new Promise<{ reason: string; orderly: boolean }>((resolve) => {
      this.lose = () => resolve({ reason: 'lost', orderly: false });
    });
    return { open: true, ended, submit: () => Promise.reject(new Error('not asked for')), close: () => ended };
  }
}

const DOUBLED = [1000, 2000, 4000, 8000, 16_000, MAX_MS, MAX_MS];

test.each(['never', 'until it is lost'] as const)(
  'the wait for the next bind doubles with each failure, up to the longest (a bind is established: %s)',
  async (open) => {
    const world = new Fixture(open);
    expect(await world.waits(7)).toEqual(DOUBLED);
  },
);

test('a bind that lasted 30 s resets the waits, a shorter one does not', async () => {
  const world = new Fixture('until it is lost');
  expect(await world.waits(3)).toEqual(DOUBLED.slice(0, 3));
  expect(await world.waits(1, 29_999)).toEqual([8000]);
  expect(await world.waits(1, 30_000)).toEqual([1000]);
  expect(await world.waits(1)).toEqual([2000]);
});

test('a change of the clock does not affect how long a bind is considered to have lasted', async () => {
  const world = new Fixture('until it is lost');
  expect(await world.waits(3)).toEqual(DOUBLED.slice(0, 3));
  await settled(2);
  world.clock.setBack(3_600_000);
  expect(await world.waits(1, 30_000)).toEqual([1000]);
});
