import { MessagingOptionsError } from '../common/errors.js';
import { formatValue } from '../common/options.js';

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

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveDispatchSettings(options: DispatchOptions = {}): DispatchSettings {
  const { enabled = true, batchSize = 500, concurrency = 4, pollMs = 1000, shutdownMs = 10_000 } = options;
  const integer = (name: keyof DispatchOptions, value: number, min: number, max: number) => {
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new MessagingOptionsError(
      `Option dispatch.${name} must be an integer from ${min} to ${max}; got ${formatValue(value)}.`,
    );
  };
  return {
    enabled,
    batchSize: integer('batchSize', batchSize, 1, 5000),
    concurrency: integer('concurrency', concurrency, 1, 64),
    pollMs: integer('pollMs', pollMs, 10, 60_000),
    shutdownMs: integer('shutdownMs', shutdownMs, 0, 600_000),
  };
}
