import type { MessagingStorage } from '../../../../src/storage/messaging-storage.js';
import { range } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** A test that runs many operations concurrently; `hand` returns the instance for the operation of an index. */
export type Race = (world: StorageFixture, hand: (index: number) => MessagingStorage) => Promise<void>;

/** Starts `count` runs of `step` before it awaits the first. */
export function atOnce<T>(count: number, step: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(range(count).map(step));
}

/** Counts how often each value occurs. */
export function tally<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
