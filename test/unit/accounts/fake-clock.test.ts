import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';

describe('FakeClock', () => {
  test('runs due work in order, each piece at its time, including work that is scheduled on the way', () => {
    const clock = new FakeClock(1_000);
    const seen: string[] = [];
    const note = (name: string) => () => {
      seen.push(`${name}@${clock.now()}`);
    };
    clock.after(30, note('late'));
    clock.after(10, () => {
      note('first')();
      clock.after(5, note('child'));
      clock.after(100, note('too late'));
    });
    clock.after(10, note('second'));
    const cancel = clock.after(12, note('cancelled'));
    clock.after(-5, note('now'));
    clock.after(11, cancel);
    clock.advance(30);
    expect(seen).toEqual(['now@1000', 'first@1010', 'second@1010', 'child@1015', 'late@1030']);
    expect(clock.now()).toBe(1_030);
    clock.advance(0);
    expect(seen).toHaveLength(5);
  });
});
