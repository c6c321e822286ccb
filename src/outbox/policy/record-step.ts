import type { NewEvent } from '../../events/event-types.js';
import type { RecordChanges } from './send-policy.js';

/** The result of a step, and the records that it changes. */
export interface RecordStep<T> {
  readonly result: T;
  readonly changes: RecordChanges;
  /** What the step tells, to be recorded with its changes. Default: nothing. */
  readonly events?: readonly NewEvent[];
}
