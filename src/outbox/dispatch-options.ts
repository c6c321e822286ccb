import { boolean, integer, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';

/** Options of delivery. */
export interface DispatchOptions {
  /** False: this process accepts messages, and another one on the same database delivers them. Default true. */
  readonly enabled?: boolean | undefined;
  /** The most deliveries that a worker claims at a time, 1 to 5000. Default 500. */
  readonly batchSize?: number | undefined;
  /** The most batches of one channel in flight, 1 to 64. Default 4. */
  readonly concurrency?: number | undefined;
  /** The longest time between two polls of a worker, in milliseconds, 10 to 60 000. Default 1000. */
  readonly pollMs?: number | undefined;
  /** How long a shutdown waits for batches in flight, in milliseconds, 0 to 600 000. Default 10 000. */
  readonly shutdownMs?: number | undefined;
}

/** `DispatchOptions` with their defaults filled in. */
export abstract class DispatchSettings {
  abstract readonly enabled: boolean;
  abstract readonly batchSize: number;
  abstract readonly concurrency: number;
  abstract readonly pollMs: number;
  abstract readonly shutdownMs: number;
}

/** Reads and checks `DispatchOptions`. */
export const DISPATCH_OPTIONS = optionalGroup({
  enabled: boolean.or(true),
  batchSize: integer(1, 5000).or(500),
  concurrency: integer(1, 64).or(4),
  pollMs: integer(10, 60_000).or(1000),
  shutdownMs: integer(0, 600_000).or(10_000),
} satisfies OptionsOf<DispatchOptions>);

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveDispatchSettings(options?: DispatchOptions): DispatchSettings {
  return DISPATCH_OPTIONS.read(options, new OptionPlace('dispatch'));
}
