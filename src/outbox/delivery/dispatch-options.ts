import { choice, integer, OptionPlace, type OptionsOf, optionalGroup } from '../../common/options.js';
import { MINUTE_MS } from '../../common/time.js';
import { PROCESS_ROLES, type ProcessRole } from './process-role.api.js';

/** Reads the option `role`. */
export const ROLE_OPTION = choice(...PROCESS_ROLES).or('all');

/**
 * Whether a process of this role delivers for channels with lanes, or for channels without. A lane is a linked number.
 */
export function roleDelivers(role: ProcessRole, lanes: 'lanes' | 'no lanes'): boolean {
  return role === 'all' || role === (lanes === 'lanes' ? 'sessions' : 'worker');
}

/** Options of delivery. */
export interface DispatchOptions {
  /** The maximum number of deliveries that a worker claims at a time, 1 to 5000. Default 500. */
  readonly batchSize?: number | undefined;
  /**
   * The maximum number of batches of one channel in flight, 1 to 64. One more batch of one-time passcodes is allowed. A channel that
   * reports its capacity has at most `batchSize` × `concurrency` deliveries in flight. Default 4.
   */
  readonly concurrency?: number | undefined;
  /** The longest time between two polls of a worker, in milliseconds, 10 to 60 000. Default 1000. */
  readonly pollMs?: number | undefined;
  /** How long a shutdown waits for batches in flight, in milliseconds, 0 to 600 000. Default 10 000. */
  readonly shutdownMs?: number | undefined;
}

/** `DispatchOptions` with their defaults filled in, and the role of the process. */
export abstract class DispatchSettings {
  abstract readonly role: ProcessRole;
  abstract readonly batchSize: number;
  abstract readonly concurrency: number;
  abstract readonly pollMs: number;
  abstract readonly shutdownMs: number;
}

/** Reads and checks `DispatchOptions`. */
export const DISPATCH_OPTIONS = optionalGroup({
  batchSize: integer(1, 5000).or(500),
  concurrency: integer(1, 64).or(4),
  pollMs: integer(10, MINUTE_MS).or(1000),
  shutdownMs: integer(0, 10 * MINUTE_MS).or(10_000),
} satisfies OptionsOf<DispatchOptions>);

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveDispatchSettings(options?: DispatchOptions, role?: ProcessRole): DispatchSettings {
  return {
    ...DISPATCH_OPTIONS.read(options, new OptionPlace('dispatch')),
    role: ROLE_OPTION.read(role, new OptionPlace('role')),
  };
}
