import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import type { RecordStep } from '../../../src/outbox/policy/record-step.js';
import type { SeenRecords } from '../../../src/outbox/policy/send-policy.js';
import type { OutgoingSms } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../common/settled.js';
import { NoDatabase } from '../mounting/no-database.js';
import { anSms, RouteDouble, RoutedFixture } from '../transports/routed-fixture.js';

/** A store whose transactions are counted, so that a test advances its clock only between them. */
export class WatchedPolicies extends PolicyStore {
  made = 0;
  open = 0;

  constructor(private readonly policies: PolicyStore) {
    super(new NoDatabase());
  }

  override async change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T> {
    this.made++;
    this.open++;
    return this.policies.change(keys, step).finally(() => {
      this.open--;
    });
  }
}

/** The results of workers with one limited route each, one after another store, for this many SMS. */
export interface PacedRun {
  /** When each segment was sent, in order, in milliseconds from the start. */
  readonly segments: readonly number[];
  /** Transactions of all workers together. */
  readonly transactions: number;
  /** How often an SMS was postponed. */
  readonly postponed: number;
  /** SMS that were sent, by worker. */
  readonly shares: readonly number[];
}

/**
 * Makes one worker for each store send this many SMS as fast as its route permits. Like a dispatcher, each takes what
 * is due.
 */
export async function runPaced(
  stores: readonly PolicyStore[],
  {
    sms,
    segmentsPerSecond,
    batchSize = 50,
    segments = 1,
  }: {
    sms: number;
    segmentsPerSecond: number;
    batchSize?: number;
    segments?: number;
  },
): Promise<PacedRun> {
  const clock = new FakeClock();
  const start = clock.now();
  const out: number[] = [];
  const shares: number[] = [];
  let postponed = 0;
  const text = 'a'.repeat(segments === 1 ? 160 : 153 * segments);
  const waiting = Array.from({ length: sms }, (_, index) => ({
    sms: anSms(`2267${String(index).padStart(7, '0')}`, { text }),
    dueAt: start,
  }));
  const workers = await Promise.all(
    stores.map(async (store, index) => {
      const watch = new WatchedPolicies(store);
      const transport = new RouteDouble('carrier', () => {
        shares[index] = (shares[index] ?? 0) + 1;
        for (let part = 0; part < segments; part++) out.push(clock.now() - start);
        return { kind: 'sent' };
      });
      const routes = [{ name: 'limited', transport, segmentsPerSecond }];
      return { watch, fixture: await RoutedFixture.started(routes, { clock, guards: watch }), busy: 0 };
    }),
  );
  const handOver = async (worker: (typeof workers)[number], batch: readonly OutgoingSms[]) => {
    worker.busy++;
    const results = await worker.fixture.submit(batch);
    worker.busy--;
    for (const [index, result] of results.entries()) {
      const back = batch[index];
      if (result.kind !== 'postponed' || !back) continue;
      postponed++;
      waiting.push({ sms: back, dueAt: result.until });
    }
  };
  while (out.length < sms * segments && clock.now() - start < 600_000) {
    workers.push(...workers.splice(0, 1));
    for (const worker of workers) {
      if (worker.busy >= 4) continue;
      const due = waiting.filter(({ dueAt }) => dueAt <= clock.now()).slice(0, batchSize);
      if (due.length === 0) break;
      for (const each of due) waiting.splice(waiting.indexOf(each), 1);
      void handOver(
        worker,
        due.map((each) => each.sms),
      );
    }
    do await settled(3);
    while (workers.some(({ watch }) => watch.open > 0));
    clock.advance(50);
  }
  const transactions = workers.reduce((sum, { watch }) => sum + watch.made, 0);
  for (const { fixture } of workers) await fixture.router.stop();
  return { segments: out, transactions, postponed, shares };
}

/** The maximum number of segments in any second. */
export function busiestSecond(segments: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [index, at] of segments.entries()) {
    while ((segments[from] ?? 0) <= at - 1000) from++;
    most = Math.max(most, index - from + 1);
  }
  return most;
}
