import { MessagingError } from '../../common/errors.js';
import type { Catalogue } from '../../common/text/catalogue.js';
import { errorAnswer } from '../../http/errors.js';

/** An answer of Kannel's `sendsms`: a text that begins with the reason. */
export interface KannelAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal that only Kannel's shape has. */
export class KannelRefusal extends Error {
  override readonly name = 'KannelRefusal';
  constructor(
    readonly status: 400 | 403,
    message: string,
  ) {
    super(message);
  }
}

/** A key that is refused, whatever the reason. */
export const UNAUTHORIZED = new KannelRefusal(403, 'Authorization failed for sendsms');

export const ACCEPTED: KannelAnswer = { status: 202, text: '0: Accepted for delivery', headers: {} };

const TRY_AGAIN = 'Temporal failure, try again later.';

/**
 * The answer to any thrown value. Kannel's clients send again after a 503, so it stands for all that may pass: a limit of
 * requests or units, and a fault of ours.
 */
export function kannelRefusal(error: unknown, catalogue: Catalogue): KannelAnswer {
  if (error instanceof KannelRefusal) return { status: error.status, text: error.message, headers: {} };
  const { body, headers } = errorAnswer(error, catalogue);
  const { statusCode } = body;
  if (statusCode === 429 || statusCode >= 500 || !(error instanceof MessagingError)) {
    return { status: 503, text: TRY_AGAIN, headers };
  }
  return { status: statusCode === 403 ? 403 : 400, text: body.message, headers };
}
