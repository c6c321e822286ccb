import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What another account saw. */
export interface Seen {
  /** How often each status came; 0: no answer. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds: `p50/p99/max`. */
  readonly times: string;
}

/** Sends requests as another account while something goes on, from a thread of its own: see `prober.mjs`. */
export async function probe(
  target: { readonly url: string; readonly key: string },
  meanwhile: () => Promise<unknown>,
  send?: { readonly path: string; readonly body: object },
): Promise<Seen> {
  const url = `${target.url}/api/v1/${send?.path ?? 'balance'}`;
  const worker = new Worker(new URL('./prober.mjs', import.meta.url), {
    workerData: { url, key: target.key, body: send?.body },
  });
  try {
    await meanwhile();
    const answer = once(worker, 'message');
    worker.postMessage('stop');
    const [seen]: unknown[] = await answer;
    const { statuses, times } = seen as { statuses: Seen['statuses']; times: number[] };
    return { statuses, times: summary(times) };
  } finally {
    await worker.terminate();
  }
}

function summary(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN);
  return `${at(0.5)}/${at(0.99)}/${at(1)}`;
}
