import type { HostTransaction } from '../../outbox/outbox-store.js';
import type { Dialect } from './dialect.js';
import type { Operation } from './operation.js';

/** Makes an operation afresh; called again when a transaction has to be repeated. */
export type Work<T> = () => Operation<T>;

/** Runs operations, each one whole or not at all. */
export abstract class Executor {
  abstract readonly dialect: Dialect;

  /** One transaction of our own; resolves after its commit, when the database has it on disk. */
  abstract write<T>(work: Work<T>): Promise<T>;

  /**
   * As `write`, without waiting for the disk: a crash of the process loses nothing, but a power cut may lose the newest of
   * them. Never out of order: what a later `write` has on disk includes them. For what may as well happen again.
   */
  abstract writeLazily<T>(work: Work<T>): Promise<T>;

  /** Sees committed rows only. */
  abstract read<T>(work: Work<T>): Promise<T>;

  /** Part of a transaction that the host has open. */
  abstract join<T>(host: HostTransaction, work: Work<T>): Promise<T>;

  /** Runs `task` after the host's open transaction has been committed; never when it is rolled back. */
  abstract whenCommitted(host: HostTransaction, task: () => void): void;

  /** Waits for what is under way; nothing new is taken. */
  abstract stop(): Promise<void>;
}
