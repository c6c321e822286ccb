import { expect, test } from '@jest/globals';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { type OperatingState, OperatingStore, OperatingSwitches } from '../../../src/outbox/operating-state.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { NoDatabase } from '../../support/mounting/no-database.js';

/** Answers what a test says, and counts how often it is asked. */
class SwitchDouble extends OperatingStore {
  reads = 0;
  away = false;
  known: OperatingState = { pauses: [], rested: new Set() };

  override async state(): Promise<OperatingState> {
    this.reads++;
    if (this.away) throw new StorageUnavailableError('It is away.');
    return this.known;
  }
}

function world() {
  const [clock, store, notifier] = [new FakeClock(), new SwitchDouble(new NoDatabase()), new LocalNotifier()];
  return { clock, store, notifier, switches: new OperatingSwitches(clock, store, notifier) };
}

const pause = (channel?: string, accountId?: string) => ({ channel, accountId, since: 0 });

test('the state is read once in two seconds, and after a notice', async () => {
  const { clock, store, notifier, switches } = world();
  for (let asked = 0; asked < 10; asked++) await switches.current();
  clock.advance(1999);
  await switches.current();
  expect(store.reads).toBe(1);
  clock.advance(1);
  await Promise.all([switches.current(), switches.current()]);
  expect(store.reads).toBe(2);
  store.known = { ...store.known, rested: new Set(['near']) };
  notifier.publish('operating', '*');
  expect((await switches.current()).rested).toEqual(new Set(['near']));
  expect(store.reads).toBe(3);
});

test('a read that was under way at a notice does not count for later callers', async () => {
  const { store, notifier, switches } = world();
  const early = switches.current();
  store.known = { pauses: [pause('sms')], rested: new Set() };
  notifier.publish('operating', '*');
  expect(await switches.pausedOf('sms')).toBe('all');
  await early;
  expect(await switches.pausedOf('sms')).toBe('all');
});

test('while the storage is unavailable the last known state applies; before the first read nothing is claimed', async () => {
  const { clock, store, switches } = world();
  store.away = true;
  await expect(switches.pausedOf('sms')).rejects.toThrow(StorageUnavailableError);
  store.away = false;
  store.known = { pauses: [pause('sms')], rested: new Set(['near']) };
  await switches.current();
  store.away = true;
  clock.advance(3_600_000);
  expect(await switches.pausedOf('sms')).toBe('all');
  expect(switches.peek().rested).toEqual(new Set(['near']));
});

test('a synchronous look returns the known state, and starts a read for the next time', async () => {
  const { store, switches } = world();
  store.known = { pauses: [], rested: new Set(['near']) };
  expect(switches.peek().rested.size).toBe(0);
  await settled();
  expect(switches.peek().rested).toEqual(new Set(['near']));
  expect(store.reads).toBe(1);
});

test('the accounts that are paused on a channel are known', async () => {
  const { store, notifier, switches } = world();
  const pausedWith = (...pauses: OperatingState['pauses']) => {
    store.known = { ...store.known, pauses };
    notifier.publish('operating', '*');
    return Promise.all(['sms', 'wa'].map((channel) => switches.pausedOf(channel)));
  };
  expect(await pausedWith()).toEqual([undefined, undefined]);
  expect(await pausedWith(pause('sms'))).toEqual(['all', undefined]);
  expect(await pausedWith(pause(undefined, 'a'), pause('sms', 'b'), pause('sms', 'a'))).toEqual([['a', 'b'], ['a']]);
  expect(await pausedWith(pause('sms', 'a'), pause('sms'))).toEqual(['all', undefined]);
});
