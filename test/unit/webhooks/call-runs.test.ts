import { expect, test } from '@jest/globals';
import { CallRuns, callIdOf, MAX_CALLS_OF_RUN, RUN_MS, runIdOf } from '../../../src/webhooks/calls/call-runs.js';

const TAKEN = { ok: true, status: 200, error: undefined, reply: 'ok' };
const FAILED = { ok: false, status: 500, error: undefined, reply: 'no' };
const ID = '01a1fe2d-892e-775e-ac74-b396363f6c20';

/** The lengths of the runs that calls become, each call at its time. */
function lengths(calls: readonly (readonly [answer: typeof TAKEN, at: number])[], newId = () => ID): readonly number[] {
  const runs = new CallRuns();
  for (const [answer, at] of calls) runs.add(answer, { sequences: [1], at, ms: 1 }, newId);
  return runs.take().map((run) => run.calls.length);
}

test('calls with the same answer share a run, with one id', () => {
  let ids = 0;
  const newId = () => {
    ids++;
    return ID;
  };
  expect(lengths([[TAKEN, 0], [TAKEN, 3], [TAKEN, 1]], newId)).toEqual([3]); // biome-ignore format: one line
  expect(ids).toBe(1);
});

test.each([
  ['failures', [FAILED, 0], [FAILED, 0]],
  ['other statuses', [TAKEN, 0], [{ ...TAKEN, status: 204 }, 0]],
  ['other answers', [TAKEN, 0], [{ ...TAKEN, reply: 'fine' }, 0]],
  ['times that are far apart', [TAKEN, 0], [TAKEN, RUN_MS]],
  ['times that are far apart, the earlier one last', [TAKEN, RUN_MS], [TAKEN, 0]],
] as const)('%s are recorded one by one', (_, first, second) => {
  expect(lengths([first, second])).toEqual([1, 1]);
});

test('two successive calls of a run are never further apart than a reader looks', () => {
  const times = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 1 : -1) * index * (RUN_MS / 30));
  const runs = new CallRuns();
  for (const at of times) runs.add(TAKEN, { sequences: [1], at, ms: 1 }, () => ID);
  for (const { calls } of runs.take()) {
    const all = calls.map(({ at }) => at);
    expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(RUN_MS);
  }
});

test('a run has a maximum length', () => {
  const calls = Array.from({ length: MAX_CALLS_OF_RUN + 1 }, () => [TAKEN, 0] as const);
  expect(lengths(calls)).toEqual([MAX_CALLS_OF_RUN, 1]);
});

test('ids of the host’s own generator are kept unchanged, so its calls are recorded one by one', () => {
  let ids = 0;
  expect(lengths([[TAKEN, 0], [TAKEN, 0]], () => `call_${ids++}`)).toEqual([1, 1]); // biome-ignore format: one line
});

test('a run that was taken is gone, and a later call begins a run of its own', () => {
  const runs = new CallRuns();
  const add = () => runs.add(TAKEN, { sequences: [1], at: 0, ms: 1 }, () => ID);
  add();
  expect(runs.take()).toHaveLength(1);
  expect(runs.take()).toEqual([]);
  add();
  expect(runs.take()).toHaveLength(1);
});

test('the id of each call leads to that of its run, and no two are the same', () => {
  const run = runIdOf(ID);
  const ids = Array.from({ length: MAX_CALLS_OF_RUN }, (_, place) => callIdOf(run, place));
  expect(new Set(ids).size).toBe(MAX_CALLS_OF_RUN);
  expect(new Set(ids.map(runIdOf))).toEqual(new Set([run]));
  expect([...ids].sort()).toEqual(ids);
});
