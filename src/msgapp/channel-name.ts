import { MessagingOptionsError } from '../common/errors.js';
import { shown } from '../common/shown.js';

/** First parts of our other paths, and words that a host has routes under. */
const TAKEN = new Set(['sms', 'otp', 'send', 'verify', 'balance', 'docs', 'sandbox']);

/** The name of a messaging-app channel, `msgapp` unless the host gives another. @throws MessagingOptionsError when it is none */
export function resolveChannelName(channel = 'msgapp'): string {
  if (typeof channel === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(channel) && !TAKEN.has(channel)) return channel;
  throw new MessagingOptionsError(
    `Option msgapp.channel must be 1 to 32 of a-z, 0-9 and "-", a letter first, and none of ${[...TAKEN].join(', ')}; got ${shown(channel)}.`,
  );
}
