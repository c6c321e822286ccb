import type { TextKey, TextValues } from './text/catalogue.js';

/** The code of a refusal. Each has one HTTP status (`http/errors.ts`) and one text in each catalogue. */
export type ErrorCode = Extract<TextKey, `error.${string}`>;

/**
 * A refused operation. Services throw it instead of Nest's HTTP exceptions; the filter on our controllers turns it into the
 * API's error body.
 *
 * @example
 * ```ts
 * try {
 *   await sms.send(accountId, draft);
 * } catch (error) {
 *   if (error instanceof MessagingError && error.code === 'error.insufficient_balance') await remindOfPayment(accountId);
 *   throw error;
 * }
 * ```
 */
export class MessagingError extends Error {
  override readonly name = 'MessagingError';

  /** The field is private, so that loggers do not print it. It contains numbers and texts of callers. */
  readonly #values: TextValues;

  /**
   * @param code the reason
   * @param values values of the text's placeholders, for example the invalid number; shown to the caller, never logged
   * @param retryAfter the seconds after which the operation can be repeated (the `Retry-After` header)
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

  /** The values of the text's placeholders. */
  get values(): TextValues {
    return this.#values;
  }
}

/**
 * The storage did not answer (in time). The operation may have taken effect. It is safe to repeat it under its
 * Idempotency-Key.
 */
export class StorageUnavailableError extends MessagingError {
  /** @param reason one sentence for the log, not for the caller */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super('error.storage_unavailable', {}, 1, options);
  }
}

/** The seconds that a caller should wait before it repeats a send from a linked number that is reconnecting. */
export const RECONNECT_SECONDS = 5;

/**
 * The operation failed because of another transaction: a deadlock, a serialization failure (40001), or a lock that
 * another transaction kept for too long. Nothing of the operation is stored. If it was part of a transaction of your
 * own, roll that back and repeat all of it. The API answers 503 with `Retry-After`. The `cause` has the database's
 * `code`, for example `40001` or `ER_LOCK_DEADLOCK`.
 */
export class TransactionConflictError extends StorageUnavailableError {}

/** An option of the module is wrong; the message names it. Thrown while the application starts. */
export class MessagingOptionsError extends Error {
  override readonly name = 'MessagingOptionsError';
}
