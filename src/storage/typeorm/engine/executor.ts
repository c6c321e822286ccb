import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Dialect } from '../dialects/dialect.js';
import type { Operation } from './operation.js';
import { ReadingShare } from './reading-share.js';

/** Makes an operation afresh; called again when a transaction has to be repeated. */
export type Work<T> = () => Operation<T>;

/**
 * Runs operations, each one whole or not at all. With `host` they are part of a transaction that the host has open: they see
 * what it sees, wait for none of its work, and share its fate; what fails there has done nothing.
 */
export abstract class Executor {
  abstract readonly dialect: Dialect;

  /** How many transactions may be open at a time. */
  get connections(): number {
    return 1;
  }

  /** One transaction of our own; resolves after its commit, when the database has it on disk. */
  abstract write<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * As `write`, without waiting for the disk: a crash of the process loses nothing, but a power cut may lose the newest of
   * them. Never out of order: what a later `write` has on disk includes them. For what may as well happen again.
   */
  abstract writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /** Without a host's transaction it sees committed rows only. */
  abstract read<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * As `read`, for listings: only a share of the connections is used for these at a time, whoever asks for them, so that
   * other work finds one. On SQLite one at a time, so that other work has its turn in between.
   */
  browse<T>(work: Work<T>): Promise<T> {
    return this.share.run(() => this.read(work));
  }

  /** The share of listings. */
  protected readonly share: ReadingShare = new ReadingShare(1);

  /** Runs `task` after the host's open transaction has been committed; never when it is rolled back. */
  abstract whenCommitted(host: HostTransaction, task: () => void): void;

  /** Waits for what is under way; nothing new is taken. */
  abstract stop(): Promise<void>;
}
