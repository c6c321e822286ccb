import type { AuditEntry } from '../../../accounts/audit/audit.js';
import type { LedgerPart } from '../../../billing/ledger-store.js';

/** The last check of the books. */
export interface CheckRun {
  readonly id: string;
  /** `failed`: it broke off, with its process or its database. */
  readonly state: 'running' | 'done' | 'failed';
  /** The part that it is in, or ended in; undefined: before the first. */
  readonly part: LedgerPart | undefined;
  /** How many rows of the part it has checked. */
  readonly checked: number;
  /** One sentence for each fault; empty while it runs. */
  readonly findings: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly endedAt: number | undefined;
}

/** What a running check tells of itself. */
export interface CheckStep extends Pick<CheckRun, 'part' | 'checked'> {
  readonly id: string;
  /** When it counts as broken off unless it tells of itself before, milliseconds since the epoch. */
  readonly leaseUntil: number;
}

/** Keeps the last check of the books, one for all processes. Every method throws `StorageUnavailableError`. */
export abstract class CheckRunStore {
  /**
   * Begins a check in place of the last one, with the entry of the audit log, unless one is running.
   * @returns whether it has begun
   */
  abstract begin(
    run: Pick<CheckStep, 'id' | 'leaseUntil'> & { readonly at: number },
    entry: AuditEntry,
  ): Promise<boolean>;
  /** Tells how far it has come. False: another one has begun meanwhile. */
  abstract step(step: CheckStep): Promise<boolean>;
  /** Ends it. */
  abstract end(
    run: Pick<CheckRun, 'id' | 'findings'> & { readonly state: 'done' | 'failed'; readonly at: number },
  ): Promise<void>;
  /** The last check, a broken off one as `failed`; undefined: there was none. */
  abstract last(now: number): Promise<CheckRun | undefined>;
}
