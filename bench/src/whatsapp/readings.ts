import type { Memory } from './memory.js';

/** What `crowd.ts` is told: `node crowd.js '<json>'`. */
export interface Task {
  /** An empty database. */
  readonly url: string;
  readonly sessions: number;
  readonly rounds: number;
}

/** What an idle host held; the first of two with a few sessions, which are there so that what all share is not counted. */
export interface Readings {
  /** With a few that were linked just now, and with more of them. */
  readonly linked: readonly [Memory, Memory];
  /** In a new process that has resumed a few, and in one that has resumed all of `sessions` more. */
  readonly resumed: readonly [Memory, Memory];
  /** The latter after each time that all were closed and resumed in the same process. */
  readonly again: readonly Memory[];
  /** How many sessions the second of two has more than the first. */
  readonly more: { readonly linked: number; readonly resumed: number };
}
