import type { NewEvent } from '../../events/event-types.js';
import type { RecordChanges } from './send-policy.js';

/** The result of a step, and the records that it changes. */
export interface RecordStep<T> {
  readonly result: T;
  readonly changes: RecordChanges;
  /** The events of the step, which are recorded with its changes. Default: none. */
  readonly events?: readonly NewEvent[];
}
