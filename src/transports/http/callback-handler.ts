import type { LoggerService } from '@nestjs/common';
import type { Clock } from '../../common/clock.js';
import { RareWarnings } from '../../common/rare-warnings.js';
import type { CallbackAnswer, CallbackHandler, CarrierCallback } from '../../sms/sms-transport.js';
import { CallbackContent, queryOf, UnreadableContentError } from './callback-content.js';
import type { HttpSettings } from './http-sms-options.js';
import { handIn } from './news.js';
import { sameText } from './same-text.js';
import type { UnprovenCall, VendorNews } from './vendor.js';

const STORED: CallbackAnswer = { status: 200, body: '' };

/** The longest body, in bytes, that is parsed to find the signature in it. */
const MOST_UNPROVEN_BYTES = 65_536;

/**
 * Answers a vendor's calls: 404 without the secret of the path and for a GET of a vendor that does not use GET, 403 without
 * the vendor's signature, 400 for content that cannot be read, the vendor's own success answer when it is stored. A repeated
 * call changes nothing. Undefined for a vendor whose calls nothing would prove.
 */
export function callbackHandler(settings: HttpSettings, clock: Clock, log: LoggerService): CallbackHandler | undefined {
  const { vendor, name, callbackSecret } = settings;
  const { callback } = vendor;
  if (!callback || (callbackSecret === undefined && !callback.isGenuine)) return undefined;
  const warnings = new RareWarnings(log, clock);
  return async (call, sink) => {
    if (call.method === 'GET' && callback.byGet !== true) return { status: 404 };
    if (callbackSecret !== undefined && !sameText(call.secret ?? '', callbackSecret)) return { status: 404 };
    const now = clock.now();
    const unread = new CallbackContent(call, callbackSecret === undefined ? MOST_UNPROVEN_BYTES : undefined);
    const genuine = callback.isGenuine ? isGenuine(callback.isGenuine, unproven(call, unread, settings, now)) : true;
    if (genuine === undefined) return { status: 400 };
    if (!genuine) {
      warnings.warn('A callback with a wrong signature was turned away.');
      return { status: 403 };
    }
    const news = readNews(callback.read, new CallbackContent(call));
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

/** Undefined when the signature is in a body that cannot be read. */
function isGenuine(check: (call: UnprovenCall) => boolean, call: UnprovenCall): boolean | undefined {
  try {
    return check(call);
  } catch (error) {
    if (error instanceof UnreadableContentError) return undefined;
    throw error;
  }
}

/** A description of the host's own may trip over what it did not expect. */
function readNews(read: (content: CallbackContent) => VendorNews | undefined, content: CallbackContent) {
  try {
    return read(content);
  } catch {
    return undefined;
  }
}
