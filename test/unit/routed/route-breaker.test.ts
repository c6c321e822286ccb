import { afterEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { RouteBreaker, type Verdict } from '../../../src/transports/routed/route-breaker.js';

const SETTINGS = { failurePercent: 50, leastSms: 4, windowMs: 10_000, openMs: 30_000 };

describe('a circuit', () => {
  const open: RouteBreaker[] = [];
  afterEach(() => {
    for (const circuit of open.splice(0)) circuit.end();
  });

  function aCircuit(over: Partial<typeof SETTINGS> = {}) {
    const clock = new FakeClock();
    const heard: string[] = [];
    const circuit = new RouteBreaker({ ...SETTINGS, ...over }, clock, () => heard.push('opened'));
    open.push(circuit);
    const outcomes = async (...verdicts: readonly Verdict[]) => circuit.tell(circuit.enter(verdicts.length), verdicts);
    return { clock, circuit, heard, outcomes };
  }

  const [FAILS, WORKS] = ['failed', 'worked'] as const;

  test('lets everything go while it is closed', () => {
    expect(aCircuit().circuit.enter(500)).toMatchObject({ most: 500 });
  });

  test('opens when more than the share of enough SMS failed', async () => {
    const { circuit, heard, outcomes } = aCircuit();
    await outcomes(FAILS, FAILS, WORKS, WORKS);
    expect(circuit.isShut).toBe(false);
    await outcomes(FAILS);
    expect(circuit.isShut).toBe(true);
    expect(circuit.enter(10)).toMatchObject({ most: 0 });
    expect(heard).toEqual(['opened']);
  });

  test('does not judge by too few', async () => {
    const { circuit, outcomes } = aCircuit();
    await outcomes(FAILS, FAILS, FAILS);
    expect(circuit.isShut).toBe(false);
    await outcomes(FAILS);
    expect(circuit.isShut).toBe(true);
  });

  test('forgets what lies behind its window', async () => {
    const { clock, circuit, outcomes } = aCircuit();
    await outcomes(FAILS, FAILS, FAILS);
    clock.advance(SETTINGS.windowMs + 1000);
    await outcomes(FAILS);
    expect(circuit.isShut).toBe(false);
    clock.advance(5000);
    await outcomes(FAILS, FAILS, FAILS);
    expect(circuit.isShut).toBe(true);
  });

  test('judges what took longer than the window when it is known', async () => {
    const { clock, circuit } = aCircuit();
    const leaves = [circuit.enter(2), circuit.enter(2)];
    clock.advance(120_000);
    for (const leave of leaves) await circuit.tell(leave, [FAILS, FAILS]);
    expect(circuit.isShut).toBe(true);
  });

  test('after its rest one SMS tries, and when that works everything goes again', async () => {
    const { clock, circuit, outcomes } = aCircuit();
    await outcomes(FAILS, FAILS, FAILS, FAILS);
    clock.advance(SETTINGS.openMs - 1);
    expect(circuit.isShut).toBe(true);
    clock.advance(1);
    expect(circuit.isShut).toBe(false);
    const probe = circuit.enter(500);
    expect(probe.most).toBe(1);
    expect(circuit.isShut).toBe(true);
    expect(circuit.enter(500).most).toBe(0);
    await circuit.tell(probe, [WORKS]);
    expect(circuit.enter(500).most).toBe(500);
  });

  test('one that says nothing is no answer: the next one finds out', async () => {
    const { clock, circuit, outcomes } = aCircuit();
    await outcomes(FAILS, undefined, FAILS, undefined, FAILS);
    expect(circuit.isShut).toBe(false);
    await outcomes(FAILS);
    expect(circuit.isShut).toBe(true);
    clock.advance(SETTINGS.openMs);
    await outcomes(undefined);
    expect([circuit.isShut, circuit.enter(500).most, circuit.isShut]).toEqual([false, 1, true]);
  });

  test('says until when it is shut, as far as anybody knows', async () => {
    const { clock, circuit, outcomes } = aCircuit();
    expect(circuit.shutUntil).toBeUndefined();
    await outcomes(FAILS, FAILS, FAILS, FAILS);
    const restEnds = clock.now() + SETTINGS.openMs;
    expect(circuit.shutUntil).toBe(restEnds);
    clock.advance(SETTINGS.openMs - 1);
    expect(circuit.shutUntil).toBe(restEnds);
    clock.advance(1);
    expect(circuit.shutUntil).toBeUndefined();
    const probe = circuit.enter(1);
    expect([circuit.isShut, circuit.shutUntil]).toEqual([true, undefined]);
    await circuit.tell(probe, [FAILS]);
    expect(circuit.shutUntil).toBe(clock.now() + SETTINGS.openMs);
  });

  test('when that fails too it rests again, as long, and so on', async () => {
    const { clock, circuit, heard, outcomes } = aCircuit();
    await outcomes(FAILS, FAILS, FAILS, FAILS);
    for (let time = 0; time < 3; time++) {
      clock.advance(SETTINGS.openMs);
      await circuit.tell(circuit.enter(9), [FAILS]);
      expect(circuit.isShut).toBe(true);
      clock.advance(SETTINGS.openMs - 1);
      expect(circuit.isShut).toBe(true);
      clock.advance(1);
      expect(circuit.isShut).toBe(false);
      await circuit.tell(circuit.enter(9), [FAILS]);
    }
    expect(heard).toHaveLength(7);
  });

  test('what went before it opened no longer decides when it comes back', async () => {
    const { clock, circuit, outcomes } = aCircuit();
    const [slow, slower] = [circuit.enter(4), circuit.enter(4)];
    await outcomes(FAILS, FAILS, FAILS, FAILS);
    await circuit.tell(slow, [WORKS, WORKS, WORKS, WORKS]);
    expect(circuit.isShut).toBe(true);
    clock.advance(SETTINGS.openMs);
    await circuit.tell(slower, [FAILS, FAILS, FAILS, FAILS]);
    expect(circuit.isShut).toBe(false);
  });

  test('may be opened by hand, and rests as long as ever', () => {
    const { clock, circuit } = aCircuit();
    circuit.trip();
    expect(circuit.enter(1).most).toBe(0);
    clock.advance(SETTINGS.openMs);
    expect(circuit.enter(2).most).toBe(1);
  });
});
