import { retryAfterMs } from '../common/retry-after.js';
import { SECOND_MS } from '../common/time.js';

/**
 * Why a call failed: an error that the API answered, or a failure on the way to it. What the `signal` of a call says, and what
 * `token` throws, is thrown as it is.
 */
export class MessagingApiError extends Error {
  override readonly name = 'MessagingApiError';

  constructor(
    /** The HTTP status; 0 when there was no answer. */
    readonly status: number,
    /**
     * The word of `X-Error-Code`, the same in every language: `insufficient_balance`, `code_expired`, … . Without an answer it is
     * `timeout` or `network_error`, without the header (a proxy, or a browser that may not read it) `unknown`.
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

  /** With a 410 of the feed: the lowest number that is kept. */
  readonly earliest: number | undefined;

  /** The key that the call had. The same call with the same key is not charged twice; it gets the first answer if there was one. */
  readonly idempotencyKey: string | undefined;
}

/** The error that an answer says. */
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
    // A proxy's page.
    return undefined;
  }
}

function numberIn(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined;
}
