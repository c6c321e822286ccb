import { boolean, integer, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';

/** What the host says about delivery. */
export interface DispatchOptions {
  /** False: this process accepts but does not deliver; another one on the same database does. Default true. */
  readonly enabled?: boolean | undefined;
  /** Deliveries that a worker takes at a time, 1 to 5000. Default 500. */
  readonly batchSize?: number | undefined;
  /** Batches of one channel that are under way at a time, 1 to 64. Default 4. */
  readonly concurrency?: number | undefined;
  /** How often a worker looks for itself, in milliseconds, 10 to 60 000. Default 1000. */
  readonly pollMs?: number | undefined;
  /** How long a shutdown waits for what is in flight, in milliseconds, 0 to 600 000. Default 10 000. */
  readonly shutdownMs?: number | undefined;
}

/** The same, complete. */
export abstract class DispatchSettings {
  abstract readonly enabled: boolean;
  abstract readonly batchSize: number;
  abstract readonly concurrency: number;
  abstract readonly pollMs: number;
  abstract readonly shutdownMs: number;
}

/** How the options about delivery are read. */
export const DISPATCH_OPTIONS = optionalGroup({
  enabled: boolean.or(true),
  batchSize: integer(1, 5000).or(500),
  concurrency: integer(1, 64).or(4),
  pollMs: integer(10, 60_000).or(1000),
  shutdownMs: integer(0, 600_000).or(10_000),
} satisfies OptionsOf<DispatchOptions>);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveDispatchSettings(options?: DispatchOptions): DispatchSettings {
  return DISPATCH_OPTIONS.read(options, new OptionPlace('dispatch'));
}
