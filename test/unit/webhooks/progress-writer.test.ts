import { expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import type { CallStore } from '../../../src/webhooks/calls/call-store.js';
import type { EndpointCaller } from '../../../src/webhooks/calls/endpoint-caller.js';
import { ProgressWriter } from '../../../src/webhooks/calls/progress-writer.js';
import { eventually } from '../../support/common/eventually.js';
import { until } from '../../support/common/until.js';

test('one endpoint waits for its own writes, not for those that others keep adding', async () => {
  const clock = new FakeClock();
  const stored: string[] = [];
  const caller = (endpointId: string, after: () => void) => ({
    progress: () => ({
      progress: { lease: { endpointId, epoch: 1 } },
      stored: () => {
        stored.push(endpointId);
        after();
      },
    }),
  });
  const store: Pick<CallStore, 'commit'> = {
    commit: async (_, progress) => new Set(progress.map(({ lease }) => lease.endpointId)),
  };
  const lost = () => undefined;
  const writer = new ProgressWriter('a', store as CallStore, clock, lost, new AbortController().signal);
  const busy = caller('busy', () => {
    if (stored.length < 100) writer.add(busy as unknown as EndpointCaller);
  });
  writer.add(busy as unknown as EndpointCaller);
  await eventually(() => stored.length > 2, Boolean, { clock });
  let isFlushed = false;
  void writer.flush(caller('ending', () => undefined) as unknown as EndpointCaller).then(() => {
    isFlushed = true;
  });
  await eventually(() => isFlushed, Boolean, { clock });
  expect(stored).toContain('ending');
  expect(stored.length).toBeLessThan(20);
});

test('a commit that calls wait for begins at once, and other writes gather', async () => {
  const clock = new FakeClock();
  const commits: string[][] = [];
  const caller = (endpointId: string) =>
    ({
      progress: () => ({ progress: { lease: { endpointId, epoch: 1 } }, stored: () => undefined }),
    }) as unknown as EndpointCaller;
  const store: Pick<CallStore, 'commit'> = {
    commit: async (_, progress) => {
      const ids = progress.map(({ lease }) => lease.endpointId);
      commits.push(ids);
      return new Set(ids);
    },
  };
  const lost = () => undefined;
  const writer = new ProgressWriter('a', store as CallStore, clock, lost, new AbortController().signal);
  writer.add(caller('first'));
  await until(() => commits.length === 1);
  writer.add(caller('gathered'));
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(commits).toEqual([['first']]);
  // The clock stands still.
  writer.add(caller('awaited'), true);
  await until(() => commits.length === 2);
  expect(commits).toEqual([['first'], ['gathered', 'awaited']]);
});
