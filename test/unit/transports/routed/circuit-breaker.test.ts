import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { type CallOutcome, CircuitBreaker } from '../../../../src/transports/routed/circuit-breaker.js';

const SETTINGS = { failurePercent: 50, minSms: 4, windowMs: 10_000, openMs: 30_000 };

describe('a circuit', () => {
  function aCircuit(over: Partial<typeof SETTINGS> = {}) {
    const clock = new FakeClock();
    const heard: string[] = [];
    const circuit = new CircuitBreaker({ ...SETTINGS, ...over }, clock, () => heard.push('opened'));
    const outcomes = (...each: readonly CallOutcome[]) => circuit.record(circuit.tryAcquire(each.length), each);
    return { clock, circuit, heard, outcomes };
  }

  const [FAILS, WORKS] = ['failed', 'worked'] as const;

  test('permits every SMS while it is closed', () => {
    expect(aCircuit().circuit.tryAcquire(500)).toMatchObject({ most: 500 });
  });

  test('opens when enough SMS were sent and more than the limit of them failed', () => {
    const { circuit, heard, outcomes } = aCircuit();
    outcomes(FAILS, FAILS, WORKS, WORKS);
    expect(circuit.isShut).toBe(false);
    outcomes(FAILS);
    expect(circuit.isShut).toBe(true);
    expect(circuit.tryAcquire(10)).toMatchObject({ most: 0 });
    expect(heard).toEqual(['opened']);
  });

  test('does not open after too few SMS', () => {
    const { circuit, outcomes } = aCircuit();
    outcomes(FAILS, FAILS, FAILS);
    expect(circuit.isShut).toBe(false);
    outcomes(FAILS);
    expect(circuit.isShut).toBe(true);
  });

  test('forgets outcomes that are older than its window', () => {
    const { clock, circuit, outcomes } = aCircuit();
    outcomes(FAILS, FAILS, FAILS);
    clock.advance(SETTINGS.windowMs + 1000);
    outcomes(FAILS);
    expect(circuit.isShut).toBe(false);
    clock.advance(5000);
    outcomes(FAILS, FAILS, FAILS);
    expect(circuit.isShut).toBe(true);
  });

  test('counts an outcome that took longer than the window when it becomes known', () => {
    const { clock, circuit } = aCircuit();
    const permits = [circuit.tryAcquire(2), circuit.tryAcquire(2)];
    clock.advance(120_000);
    for (const permit of permits) circuit.record(permit, [FAILS, FAILS]);
    expect(circuit.isShut).toBe(true);
  });

  test('lets one SMS probe the route after its rest, and permits every SMS again if that succeeds', () => {
    const { clock, circuit, outcomes } = aCircuit();
    outcomes(FAILS, FAILS, FAILS, FAILS);
    clock.advance(SETTINGS.openMs - 1);
    expect(circuit.isShut).toBe(true);
    clock.advance(1);
    expect(circuit.isShut).toBe(false);
    const probe = circuit.tryAcquire(500);
    expect(probe.most).toBe(1);
    expect(circuit.isShut).toBe(true);
    expect(circuit.tryAcquire(500).most).toBe(0);
    circuit.record(probe, [WORKS]);
    expect(circuit.tryAcquire(500).most).toBe(500);
  });

  test('lets the next SMS probe the route if a probe has no outcome', () => {
    const { clock, circuit, outcomes } = aCircuit();
    outcomes(FAILS, undefined, FAILS, undefined, FAILS);
    expect(circuit.isShut).toBe(false);
    outcomes(FAILS);
    expect(circuit.isShut).toBe(true);
    clock.advance(SETTINGS.openMs);
    outcomes(undefined);
    expect([circuit.isShut, circuit.tryAcquire(500).most, circuit.isShut]).toEqual([false, 1, true]);
  });

  test('reports until when it is open, if that is known', () => {
    const { clock, circuit, outcomes } = aCircuit();
    expect(circuit.shutUntil).toBeUndefined();
    outcomes(FAILS, FAILS, FAILS, FAILS);
    const restEnds = clock.now() + SETTINGS.openMs;
    expect(circuit.shutUntil).toBe(restEnds);
    clock.advance(SETTINGS.openMs - 1);
    expect(circuit.shutUntil).toBe(restEnds);
    clock.advance(1);
    expect(circuit.shutUntil).toBeUndefined();
    const probe = circuit.tryAcquire(1);
    expect([circuit.isShut, circuit.shutUntil]).toEqual([true, undefined]);
    circuit.record(probe, [FAILS]);
    expect(circuit.shutUntil).toBe(clock.now() + SETTINGS.openMs);
  });

  test('opens again for the same time if the probe fails, and so on', () => {
    const { clock, circuit, heard, outcomes } = aCircuit();
    outcomes(FAILS, FAILS, FAILS, FAILS);
    for (let time = 0; time < 3; time++) {
      clock.advance(SETTINGS.openMs);
      circuit.record(circuit.tryAcquire(9), [FAILS]);
      expect(circuit.isShut).toBe(true);
      clock.advance(SETTINGS.openMs - 1);
      expect(circuit.isShut).toBe(true);
      clock.advance(1);
      expect(circuit.isShut).toBe(false);
      circuit.record(circuit.tryAcquire(9), [FAILS]);
    }
    expect(heard).toHaveLength(7);
  });

  test('ignores outcomes of SMS that were sent before it opened', () => {
    const { clock, circuit, outcomes } = aCircuit();
    const [slow, slower] = [circuit.tryAcquire(4), circuit.tryAcquire(4)];
    outcomes(FAILS, FAILS, FAILS, FAILS);
    circuit.record(slow, [WORKS, WORKS, WORKS, WORKS]);
    expect(circuit.isShut).toBe(true);
    clock.advance(SETTINGS.openMs);
    circuit.record(slower, [FAILS, FAILS, FAILS, FAILS]);
    expect(circuit.isShut).toBe(false);
  });

  test('forgets what it counted before it opened once it closes again', () => {
    const { clock, circuit, outcomes } = aCircuit({ openMs: 1000 });
    outcomes(FAILS, FAILS, FAILS, FAILS);
    clock.advance(1000);
    outcomes(WORKS);
    outcomes(FAILS);
    expect(circuit.isShut).toBe(false);
  });

  test('can be opened by hand, and then rests for the usual time', () => {
    const { clock, circuit } = aCircuit();
    circuit.trip();
    expect(circuit.tryAcquire(1).most).toBe(0);
    clock.advance(SETTINGS.openMs);
    expect(circuit.tryAcquire(2).most).toBe(1);
  });
});

/** Shorter than the window, so that it shows whether failures from before an opening still count. */
const SHORT_MS = 3000;

/** A call on a breaker: milliseconds that pass before it, what is done, and the outcomes that it may record. */
const calls = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.constantFrom(0, 0, 0, 1, 1000, SHORT_MS - 1, SHORT_MS), fc.nat(12_000)),
    does: fc.constantFrom('acquire', 'acquire', 'record', 'record', 'record', 'trip'),
    count: fc.nat(4),
    which: fc.nat(2),
    outcomes: fc.array(fc.constantFrom<CallOutcome>('failed', 'failed', 'worked', undefined), {
      minLength: 4,
      maxLength: 4,
    }),
  }),
  { maxLength: 60 },
);

/** The rules in plain words: it keeps every outcome with its time, and counts them all again each time. */
class PlainBreaker {
  private counted: { readonly at: number; readonly failed: boolean }[] = [];
  private state: 'closed' | 'open' | 'half-open' | 'probing' = 'closed';
  private openedAt = 0;
  private epoch = 0;
  opened = 0;

  constructor(private readonly clock: FakeClock) {}

  acquire(count: number) {
    this.look();
    const most = count === 0 ? 0 : { closed: count, open: 0, 'half-open': 1, probing: 0 }[this.state];
    if (this.state === 'half-open' && most === 1) this.state = 'probing';
    return { most, epoch: this.epoch };
  }

  record({ most, epoch }: { most: number; epoch: number }, outcomes: readonly CallOutcome[]): void {
    if (most === 0 || epoch !== this.epoch) return;
    const known = outcomes.filter((outcome) => outcome !== undefined).map((outcome) => outcome === 'failed');
    const at = Math.floor(this.clock.elapsed() / 1000);
    this.counted.push(...known.map((failed) => ({ at, failed })));
    const fails = known.includes(true);
    if (this.state === 'probing') {
      if (known.length === 0) this.state = 'half-open';
      else if (fails) this.open();
      else {
        this.state = 'closed';
        this.epoch++;
      }
    } else if (fails) {
      const recent = this.counted.filter((each) => each.at > at - 10);
      const share = recent.filter(({ failed }) => failed).length / recent.length;
      if (recent.length >= 4 && share > 0.5) this.open();
    }
  }

  trip(): void {
    this.look();
    if (this.state !== 'open') this.open();
  }

  shown() {
    this.look();
    const until =
      this.state === 'open' ? this.openedAt + SHORT_MS - this.clock.elapsed() + this.clock.now() : undefined;
    return { shut: this.state === 'open' || this.state === 'probing', until, opened: this.opened };
  }

  private open(): void {
    this.state = 'open';
    this.openedAt = this.clock.elapsed();
    this.counted = [];
    this.epoch++;
    this.opened++;
  }

  private look(): void {
    if (this.state === 'open' && this.clock.elapsed() >= this.openedAt + SHORT_MS) this.state = 'half-open';
  }
}

test('a circuit behaves like a plain model of its rules, whatever the calls and their times', () => {
  fc.assert(
    fc.property(calls, (steps) => {
      const clock = new FakeClock();
      const plain = new PlainBreaker(clock);
      let opened = 0;
      const circuit = new CircuitBreaker({ ...SETTINGS, openMs: SHORT_MS }, clock, () => opened++);
      const open = [{ ours: circuit.tryAcquire(4), plains: plain.acquire(4) }];
      for (const { afterMs, does, count, which, outcomes } of steps) {
        clock.advance(afterMs);
        if (does === 'acquire') open.push({ ours: circuit.tryAcquire(count), plains: plain.acquire(count) });
        else if (does === 'trip') {
          circuit.trip();
          plain.trip();
        }
        const [pair] = does === 'record' ? open.splice(Math.max(0, open.length - 1 - which), 1) : open.slice(-1);
        expect(pair?.ours.most).toBe(pair?.plains.most);
        if (does === 'record' && pair) {
          const reported = outcomes.slice(0, pair.ours.most);
          circuit.record(pair.ours, reported);
          plain.record(pair.plains, reported);
        }
        expect({ shut: circuit.isShut, until: circuit.shutUntil, opened }).toEqual(plain.shown());
      }
    }),
    { numRuns: 500 },
  );
});
