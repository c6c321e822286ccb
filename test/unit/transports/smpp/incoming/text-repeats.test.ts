import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
import { type Connection, TextRepeats } from '../../../../../src/transports/smpp/incoming/text-repeats.js';

const OK = { route: 'acme', from: '22670000000', to: '888', text: 'OK' };

describe('a text with the same words', () => {
  let clock: FakeClock;
  let repeats: TextRepeats;

  beforeEach(() => {
    clock = new FakeClock();
    repeats = new TextRepeats(clock);
  });

  /** The key of a text that is answered after this many milliseconds; undefined: never. */
  function keyOf(connection: Connection, answerMs: number | undefined = 10, text = OK): string {
    const { key, stored } = repeats.arrived(text, connection);
    clock.advance(answerMs ?? 0);
    if (answerMs !== undefined) stored();
    return key;
  }

  const end = (connection: Connection) => {
    connection.endedAt = clock.elapsed();
  };

  test('on a connection on which the first was answered is new: the phone has written twice', () => {
    const connection = {};
    expect(keyOf(connection)).not.toBe(keyOf(connection));
  });

  test('of another phone is never a repeat', () => {
    expect(keyOf({})).not.toBe(keyOf({}, 10, { ...OK, from: '22670000001' }));
  });

  test.each<[string, number | undefined, number]>([
    ['was never answered', undefined, 0],
    ['was answered just before its connection ended', 10, 100],
    ['was answered so late that the SMSC may have given it up', 10_000, 120_000],
  ])('is a repeat if the first %s', (_, answerMs, endMs) => {
    const connection = {};
    const first = keyOf(connection, answerMs);
    clock.advance(endMs);
    end(connection);
    expect(keyOf({})).toBe(first);
  });

  test('is new if the first connection is open, or ended long after the answer', () => {
    const [first, second] = [{}, {}];
    const keys = [keyOf(first), keyOf(second)];
    clock.advance(61_000);
    end(second);
    keys.push(keyOf({}));
    expect(new Set(keys).size).toBe(3);
  });

  test('that repeats the second one does not repeat the first', () => {
    const connection = {};
    const keys = [keyOf(connection), keyOf(connection)];
    end(connection);
    expect(keyOf({})).toBe(keys[1]);
  });

  test('in another process has the same key as the first', () => {
    expect(new TextRepeats(clock).arrived(OK, {}).key).toBe(keyOf({}));
  });
});
