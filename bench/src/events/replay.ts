import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Host, Sink } from './webhooks.js';

/** The memory of a process that replays all events of a log to an endpoint. */
export interface ReplayFigures {
  readonly perSecond: number;
  /** The heap after a garbage collection, in bytes: before the replay and after each tenth of the events. */
  readonly heap: readonly number[];
  /** The resident memory at the same times. */
  readonly rss: readonly number[];
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

export async function benchReplay(events: number): Promise<ReplayFigures> {
  const sink = await Sink.start();
  const host = await Host.start();
  const account = await host.account();
  // The endpoint begins at the end of the log, so all calls belong to the replay.
  await host.record(account);
  await host.fill(account, events);
  const endpoint = await host.endpoint(account, `${sink.url}/`, 100);
  const [heap, rss]: [number[], number[]] = [[], []];
  const measure = () => {
    collect();
    const memory = process.memoryUsage();
    heap.push(memory.heapUsed);
    rss.push(memory.rss);
  };
  measure();
  const asked = await host.replay(account, endpoint);
  if (asked !== events) throw new Error(`${asked} events are called again.`);
  for (let tenth = 1; tenth <= 10; tenth++) {
    await sink.got((events * tenth) / 10);
    measure();
  }
  const { first, last } = await sink.ask('figures');
  await pause(100);
  await host.stop();
  sink.stop();
  return { perSecond: (1000 * events) / (last - first), heap, rss };
}
