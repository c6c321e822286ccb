import type { WaitingStatus } from '../events/delivery-status.api.js';
import type { Priority } from '../outbox/queue/priority.js';

/** The most deliveries of a channel that are counted, and the most of anything else. */
export const MAX_DELIVERIES = 100_000;
export const MAX_COUNTED = 10_000;

/** What a storage tells of itself for gauges: the same in every process. Counts stop at `MAX_DELIVERIES` and `MAX_COUNTED`. */
export interface StorageMeasures {
  /** Deliveries that are not handed over yet. */
  readonly open: readonly {
    readonly channel: string;
    readonly status: WaitingStatus;
    readonly count: number;
  }[];
  /** The time of the longest overdue delivery that is not claimed, milliseconds since the epoch; left out where none is due. */
  readonly due: readonly { readonly channel: string; readonly priority: Priority; readonly since: number }[];
  /** Accounts below their threshold. */
  readonly lowAccounts: number;
  /** Receipts that match no SMS yet. */
  readonly parkedReceipts: number;
  /** Sessions of messaging apps that are not over. */
  readonly sessions: readonly { readonly channel: string; readonly state: string; readonly count: number }[];
  readonly endpoints: readonly { readonly state: string; readonly count: number }[];
  /** The time of the oldest event that an enabled endpoint was not called with; undefined: none. */
  readonly uncalledSince: number | undefined;
  /** Rows that the database has not cleaned up yet; empty where it does not say. */
  readonly deadRows: readonly { readonly table: string; readonly rows: number }[];
  /** Age of the oldest open transaction in seconds; undefined where the database does not say. */
  readonly oldestSnapshot: number | undefined;
}

/** What is measured. */
export interface MeasureOrder {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The mounted channels. */
  readonly channels: readonly string[];
}
