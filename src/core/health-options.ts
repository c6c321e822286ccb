import { choice, integer, list, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';
import { DAY_MS, HOUR_MS } from '../common/time.js';
import { HEALTH_CHECKS, type HealthCheckName } from './health-check.api.js';

/**
 * The default of `ready`. The queue is left out, because messages may wait on purpose. For example, their account is
 * paused, or their campaign has a rate.
 */
const READY = HEALTH_CHECKS.filter((check) => check !== 'queue');

/** Options of health. */
export interface HealthOptions {
  /**
   * The checks that a process must pass to count as ready for requests. The results of the others are only shown.
   * Without `routes` and `sessions`, the process stays ready and accepts sends while carriers cannot be reached.
   * Default: all but `queue`, because messages may wait on purpose.
   */
  readonly ready?: readonly HealthCheckName[] | undefined;
  /**
   * How long a delivery may be overdue before the check `queue` fails, in milliseconds, 1000 to 604 800 000 (7 days).
   * Default 14 400 000 (4 h).
   */
  readonly oldestDueMs?: number | undefined;
  /** The least free space on the disk of a SQLite file, in bytes, 0 to 2^53 - 1. Default 268 435 456 (256 MiB). */
  readonly diskFreeBytes?: number | undefined;
}

/** `HealthOptions` with their defaults filled in. */
export abstract class HealthSettings {
  abstract readonly ready: readonly HealthCheckName[];
  abstract readonly oldestDueMs: number;
  abstract readonly diskFreeBytes: number;
}

/** Reads and checks `HealthOptions`. */
export const HEALTH_OPTIONS = optionalGroup({
  ready: list(choice(...HEALTH_CHECKS), 'names of checks').or(READY),
  oldestDueMs: integer(1000, 7 * DAY_MS).or(4 * HOUR_MS),
  diskFreeBytes: integer(0, Number.MAX_SAFE_INTEGER).or(268_435_456),
} satisfies OptionsOf<HealthOptions>);

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveHealthSettings(options?: HealthOptions): HealthSettings {
  return HEALTH_OPTIONS.read(options, new OptionPlace('health'));
}
