import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { MINUTE_MS } from '../../../src/common/time.js';
import { DatabaseClock } from '../../../src/core/database-clock.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { settled } from '../../support/common/settled.js';

const TEN_MINUTES = 600_000;

/** A machine whose clock a test sets. `elapsed` and timers do not notice. */
class Machine extends FakeClock {
  private wrong = 0;

  setBy(ms: number): void {
    this.wrong += ms;
  }

  override now(): number {
    return super.now() + this.wrong;
  }
}

/**
 * A database beside the machine. Each reading takes as long as the next entries of the two lists say, there and back.
 */
class Server implements Pick<MessagingStorage, 'serverNow'> {
  readings = 0;
  aheadMs = 0;
  ways: [there: number, back: number][] = [];
  fault: Error | undefined;
  private readonly start: number;

  constructor(private readonly machine: Machine) {
    this.start = machine.now() - machine.elapsed();
  }

  get time(): number {
    return this.start + this.machine.elapsed() + this.aheadMs;
  }

  async serverNow(): Promise<number> {
    this.readings++;
    // The code under test may have started this from a timer, which must return before the time advances.
    await Promise.resolve();
    if (this.fault) throw this.fault;
    const [there, back] = this.ways.shift() ?? [0, 0];
    this.machine.advance(there);
    const read = this.time;
    this.machine.advance(back);
    return Math.floor(read);
  }
}

async function follow(machine: Machine, server: Server): Promise<DatabaseClock> {
  const clock = new DatabaseClock(machine);
  await clock.follow(server);
  return clock;
}

async function pass(machine: Machine, ms: number): Promise<void> {
  machine.advance(ms);
  await settled(20);
}

describe('the clock of a database', () => {
  const said: string[] = [];

  beforeEach(() => {
    said.length = 0;
    const note = (message: unknown) => void said.push(String(message));
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(note);
    jest.spyOn(Logger.prototype, 'log').mockImplementation(note);
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each([TEN_MINUTES, -TEN_MINUTES])('corrects a machine that is wrong by %i ms from the start', async (wrong) => {
    const machine = new Machine();
    const server = new Server(machine);
    machine.setBy(wrong);
    const clock = await follow(machine, server);
    expect(clock.now()).toBe(server.time);
    machine.advance(1234);
    expect([clock.now(), clock.elapsed()]).toEqual([server.time, machine.elapsed()]);
    const side = wrong > 0 ? 'ahead of' : 'behind';
    expect(said).toEqual([
      `This machine's clock is 600.0 s ${side} the database's, which is used instead: set it right (NTP).`,
    ]);
  });

  test('keeps its time if the machine’s clock is set, and is read again at once, but only once', async () => {
    const machine = new Machine();
    const server = new Server(machine);
    const clock = await follow(machine, server);
    const before = server.readings;
    machine.setBy(TEN_MINUTES);
    expect([clock.now(), clock.now()]).toEqual([server.time, server.time]);
    await settled(20);
    expect([clock.now(), server.readings - before]).toEqual([server.time, 3]);
    expect(said).toHaveLength(1);
    machine.setBy(-TEN_MINUTES);
    expect(clock.now()).toBe(server.time);
    await settled(20);
    expect(said.slice(1)).toEqual(["This machine's clock agrees with the database's again."]);
  });

  test('catches up after the machine was suspended, during which `elapsed` stood still', async () => {
    const machine = new Machine();
    const server = new Server(machine);
    const clock = await follow(machine, server);
    server.aheadMs += TEN_MINUTES;
    machine.setBy(TEN_MINUTES);
    clock.now();
    await settled(20);
    expect([clock.now(), said]).toEqual([server.time, []]);
  });

  test('is read every minute until it stops; a lasting difference is logged once', async () => {
    const machine = new Machine();
    const server = new Server(machine);
    const clock = await follow(machine, server);
    expect(said).toEqual([]);
    for (const aheadMs of [-5000, -5400, -5900, -7000, 0]) {
      server.aheadMs = aheadMs;
      await pass(machine, MINUTE_MS);
      expect(clock.now()).toBe(server.time);
    }
    expect(said.map((each) => /(\d\S+ s \S+)|agrees/.exec(each)?.[0])).toEqual([
      '5.0 s ahead',
      '7.0 s ahead',
      'agrees',
    ]);
    expect(server.readings).toBe(6 * 3);
    clock.stop();
    server.aheadMs = TEN_MINUTES;
    await pass(machine, 5 * MINUTE_MS);
    expect([server.readings, clock.now() - server.time]).toEqual([6 * 3, -TEN_MINUTES]);
  });

  test('takes the reading with the shortest round trip', async () => {
    const machine = new Machine();
    const server = new Server(machine);
    server.ways = [
      [900, 0],
      [3, 3],
      [0, 400],
    ];
    const clock = await follow(machine, server);
    expect(clock.now()).toBe(server.time);
  });

  test('ignores a difference that the round trip explains, and does not go back for a small difference that it does not explain', async () => {
    const machine = new Machine();
    const server = new Server(machine);
    const clock = await follow(machine, server);
    server.ways = [
      [500, 0],
      [0, 500],
      [500, 0],
    ];
    await pass(machine, MINUTE_MS);
    expect(clock.now()).toBe(server.time);
    server.aheadMs = -300;
    const before = clock.now();
    await pass(machine, MINUTE_MS);
    expect(clock.now()).toBe(server.time);
    expect(clock.now()).toBeGreaterThan(before);
    server.aheadMs = -900;
    machine.advance(MINUTE_MS);
    const shown = clock.now();
    await settled(20);
    expect(clock.now()).toBe(shown);
    await pass(machine, 600);
    expect(clock.now()).toBe(server.time);
  });

  test('goes on while the database does not answer, but does not start without it', async () => {
    const machine = new Machine();
    const server = new Server(machine);
    server.fault = new StorageUnavailableError('The database is closed.');
    await expect(follow(machine, server)).rejects.toThrow(server.fault);
    server.fault = undefined;
    machine.setBy(TEN_MINUTES);
    const clock = await follow(machine, server);
    server.fault = new StorageUnavailableError('The database is closed.');
    await pass(machine, 3 * MINUTE_MS);
    expect(clock.now()).toBe(server.time);
  });

  test('is the machine’s clock if the storage has none', async () => {
    const machine = new Machine();
    const clock = new DatabaseClock(machine);
    const storage = new MemoryStorage();
    await storage.start();
    await clock.follow(storage);
    await storage.stop();
    machine.setBy(TEN_MINUTES);
    expect([clock.now(), said]).toEqual([machine.now(), []]);
  });
});
