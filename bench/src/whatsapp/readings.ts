import type { Memory } from './memory.js';

/** The task of `crowd.ts`: `node crowd.js '<json>'`. */
export interface Task {
  /** An empty database. */
  readonly url: string;
  readonly sessions: number;
  readonly rounds: number;
}

/**
 * The memory of an idle host. The first of two values is with a few sessions. It is subtracted, so that memory that all
 * sessions share is not counted.
 */
export interface Readings {
  /** With a few sessions that were just linked, and with more of them. */
  readonly linked: readonly [Memory, Memory];
  /** In a new process that has resumed a few sessions, and in one that has resumed `sessions` more. */
  readonly resumed: readonly [Memory, Memory];
  /** The second value of `resumed`, each time after all sessions were closed and resumed in the same process. */
  readonly again: readonly Memory[];
  /** How many more sessions the second of two values has than the first. */
  readonly more: { readonly linked: number; readonly resumed: number };
}
