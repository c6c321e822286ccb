import type { TextKey, TextValues } from './catalogue.js';

/** Why a request is refused. Each code has one HTTP status (`http/error-status.ts`) and one text of the catalogue. */
export type ErrorCode = Extract<TextKey, `error.${string}`>;

/**
 * A refusal of the domain. Services throw this and nothing of HTTP; the filter on our controllers turns it into the
 * contract's error body.
 */
export class MessagingError extends Error {
  override readonly name = 'MessagingError';

  /** Not a plain property: values hold numbers and texts of callers, which must not show where the error is logged. */
  readonly #values: TextValues;

  /**
   * @param code what went wrong
   * @param values what the text names, for instance the offending number; shown to the caller, never logged
   * @param retryAfter seconds after which trying again can make sense (the `Retry-After` header)
   */
  constructor(
    readonly code: ErrorCode,
    values: TextValues = {},
    readonly retryAfter?: number,
    options?: ErrorOptions,
  ) {
    super(code, options);
    this.#values = values;
  }

  /** What the text names. */
  get values(): TextValues {
    return this.#values;
  }
}

/** Storage did not answer in time or at all. Nothing was charged, or the Idempotency-Key tells. */
export class StorageUnavailableError extends MessagingError {
  /** @param reason one sentence for the log, not for the caller */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super('error.storage_unavailable', {}, 1, options);
  }
}

/** An option of the module is wrong; the message is a sentence that names it. Thrown while the application starts. */
export class MessagingOptionsError extends Error {
  override readonly name = 'MessagingOptionsError';
}
