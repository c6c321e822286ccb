import type { LoggerService } from '@nestjs/common';
import type { Clock } from '../../common/clock.js';
import { RareWarnings } from '../../common/rare-warnings.js';
import type { CallbackAnswer, CallbackHandler, CarrierCallback } from '../../sms/sms-transport.js';
import { CallbackContent, queryOf } from './callback-content.js';
import type { HttpSettings } from './http-sms-options.js';
import { handIn } from './news.js';
import { sameText } from './same-text.js';
import type { UnprovenCall, VendorNews } from './vendor.js';

const STORED: CallbackAnswer = { status: 200, body: '' };

/**
 * Answers a vendor's calls: 404 without the secret of the path, and for a GET of a vendor that does not call so, 403 without the vendor's signature, 400 for what cannot be
 * read; the vendor's own idea of yes when it is stored. What the same call says twice
 * changes nothing the second time. Undefined for a vendor that nothing would prove.
 */
export function callbackHandler(settings: HttpSettings, clock: Clock, log: LoggerService): CallbackHandler | undefined {
  const { vendor, name, callbackSecret } = settings;
  const { callback } = vendor;
  if (!callback || (callbackSecret === undefined && !callback.isGenuine)) return undefined;
  const warnings = new RareWarnings(log, clock);
  return async (call, sink) => {
    if (call.method === 'GET' && callback.byGet !== true) return { status: 404 };
    if (callbackSecret !== undefined && !sameText(call.secret ?? '', callbackSecret)) return { status: 404 };
    const content = CallbackContent.of(call);
    if (!content) return { status: 400 };
    const now = clock.now();
    if (callback.isGenuine && !callback.isGenuine(unproven(call, content, settings, now))) {
      warnings.warn('A callback with a wrong signature was turned away.');
      return { status: 403 };
    }
    const news = readNews(callback.read, content);
    if (!news) return { status: 400 };
    await handIn(news, { route: name, now, sink });
    return callback.answer ?? STORED;
  };
}

/** The URL as the vendor knows it: what the host told it, where it did, with the query that came. */
function unproven(
  { url, headers, body }: CarrierCallback,
  content: CallbackContent,
  { callbackUrl }: HttpSettings,
  now: number,
): UnprovenCall {
  const query = queryOf(url);
  const known = callbackUrl === undefined ? url : `${callbackUrl}${query && '?'}${query}`;
  return { url: known, headers, body, content, now };
}

/** A description of the host's own may trip over what it did not expect. */
function readNews(read: (content: CallbackContent) => VendorNews | undefined, content: CallbackContent) {
  try {
    return read(content);
  } catch {
    return undefined;
  }
}
