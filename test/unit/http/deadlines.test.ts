import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Deadlines } from '../../../src/http/request-gate.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

/** Counts the timers that are set, which is what one line instead of many saves. */
class CountingClock extends FakeClock {
  asked = 0;

  override after(ms: number, task: () => void): () => void {
    this.asked++;
    return super.after(ms, task);
  }
}

describe('Deadlines', () => {
  it('calls each one exactly when its time is over, unless it has left', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('start' as const) }),
      fc.record({ kind: fc.constant('leave' as const), which: fc.nat() }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 150 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = new FakeClock(0);
        const deadlines = new Deadlines(clock, 100);
        const expired = new Map<number, number>();
        const model: { at: number; left: boolean; leave: () => void }[] = [];
        for (const item of steps) {
          if (item.kind === 'start') {
            const id = model.length;
            const leave = deadlines.start(() => expired.set(id, clock.now()));
            model.push({ at: clock.now() + 100, left: false, leave });
          } else if (item.kind === 'advance') {
            clock.advance(item.ms);
          } else {
            const entry = model[item.which % Math.max(model.length, 1)];
            if (entry !== undefined && entry.at > clock.now()) entry.left = true;
            entry?.leave();
          }
        }
        clock.advance(100);
        model.forEach(({ at, left }, id) => {
          expect(expired.get(id)).toBe(left ? undefined : at);
        });
      }),
    );
  });

  it('sets one timer for any number of them, and none while the line is empty', () => {
    const clock = new CountingClock();
    const deadlines = new Deadlines(clock, 30_000);
    for (let i = 0; i < 10_000; i++) {
      deadlines.start(() => {})();
      clock.advance(3);
    }
    expect(clock.asked).toBeLessThanOrEqual(2);
    clock.advance(60_000);
    expect(clock.asked).toBeLessThanOrEqual(2);
  });

  it('lets one that is called start another', () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, 10);
    let calls = 0;
    const again = (): void => {
      if (++calls < 3) deadlines.start(again);
    };
    deadlines.start(again);
    clock.advance(100);
    expect(calls).toBe(3);
  });
});
