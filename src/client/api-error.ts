import { retryAfterMs } from '../common/retry-after.js';
import { SECOND_MS } from '../common/time.js';

/**
 * Why a call failed: the API answered with an error, or could not be reached. The reason of a call's `signal` and whatever
 * `token` throws are thrown unchanged, not as this error.
 */
export class MessagingApiError extends Error {
  override readonly name = 'MessagingApiError';

  constructor(
    /** The HTTP status. 0 if there was no answer. */
    readonly status: number,
    /**
     * The word of `X-Error-Code`, which is the same in every language: `insufficient_balance`, `code_expired`, … . Without an
     * answer it is `timeout` or `network_error`. If the answer has no such header (an answer of a proxy, or a browser that may
     * not read the header), it is `unknown`.
     */
    readonly code: string,
    /** What happened, in the language of the service. */
    message: string,
    {
      retryAfter,
      earliest,
      idempotencyKey,
      ...options
    }: ErrorOptions &
      Partial<Record<'retryAfter' | 'earliest', number | undefined>> & {
        readonly idempotencyKey?: string | undefined;
      } = {},
  ) {
    super(message, options);
    this.retryAfter = retryAfter;
    this.earliest = earliest;
    this.idempotencyKey = idempotencyKey;
  }

  /** Seconds after which another attempt can succeed. */
  readonly retryAfter: number | undefined;

  /** If the feed answered 410: the lowest sequence number that is kept. */
  readonly earliest: number | undefined;

  /**
   * The Idempotency-Key of the call. The same call with the same key is not charged twice. If the first call got an answer, the
   * second call gets the same answer.
   */
  readonly idempotencyKey: string | undefined;
}

/** Makes the error for an answer that is not a success. */
export async function errorOf(response: Response, idempotencyKey: string | undefined): Promise<MessagingApiError> {
  const { status, statusText, headers } = response;
  const text = await response.text();
  const waitMs = retryAfterMs(headers.get('retry-after'), Date.now());
  return new MessagingApiError(
    status,
    headers.get('x-error-code') ?? 'unknown',
    messageIn(text) ?? `${status} ${statusText}`,
    {
      retryAfter: waitMs === undefined ? undefined : waitMs / SECOND_MS,
      earliest: numberIn(headers.get('x-earliest-sequence')),
      idempotencyKey,
    },
  );
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text);
    return typeof message === 'string' ? message : undefined;
  } catch {
    // The body is not JSON, for example the page of a proxy.
    return undefined;
  }
}

function numberIn(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined;
}
