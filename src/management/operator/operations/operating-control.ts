import type { Author } from '../../../accounts/audit/audit.js';
import { OperatingStore } from '../../../outbox/operating-state.js';
import type { Priority } from '../../../outbox/queue/priority.js';

/** Which queues: of a channel, of an account, or of both. */
export interface QueueScope {
  /** Undefined: all channels. */
  readonly channel: string | undefined;
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
}

/** Who switches something, and when. */
export interface SwitchCall {
  readonly by: Author;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What waits in a channel with a priority. */
export interface QueueDepth {
  readonly channel: string;
  readonly priority: Priority;
  /** Deliveries that wait for an attempt, due or not; `MAX_COUNTED` stands for more. */
  readonly depth: number;
  /** The earliest time at which one is due, milliseconds since the epoch; undefined where nothing waits. */
  readonly oldestDue: number | undefined;
}

/** Where the count of a queue stops. */
export const MAX_COUNTED = 100_000;

/**
 * Switches queues and routes off and on, with an entry of the audit log in the transaction of each change. What is so already
 * is no change. Every method throws `StorageUnavailableError` when the database does not answer.
 */
export abstract class OperatingControl extends OperatingStore {
  /** Has nothing more claimed of these queues. */
  abstract pause(scope: QueueScope, call: SwitchCall): Promise<void>;
  /** Takes back the pause of exactly this scope. */
  abstract resume(scope: QueueScope, call: SwitchCall): Promise<void>;
  /** Has a route take no new attempts. */
  abstract rest(route: string, call: SwitchCall): Promise<void>;
  /** Takes back `rest`. */
  abstract resumeRoute(route: string, call: SwitchCall): Promise<void>;
  /** What waits in these channels, by priority. Reads an index, at most `MAX_COUNTED` entries for each count. */
  abstract depths(channels: readonly string[]): Promise<readonly QueueDepth[]>;
}
