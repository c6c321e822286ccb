import { any, group, list, OptionPlace, type OptionsOf, text } from '../../common/options.js';
import { MINUTE_MS } from '../../common/time.js';
import { urlOf } from '../http/plain-hosts.js';

/** Options of `WhatsappCloudMsgappTransport`. They belong to the app at Meta, which all of its numbers share. */
export interface WhatsappCloudOptions {
  /**
   * The secret of the app at Meta, with which Meta signs its calls. A list while the secret is being replaced: each of them is
   * valid.
   */
  readonly appSecret: string | readonly string[];
  /** The token that you also enter at Meta, next to the URL of the webhook: 16 to 200 visible characters. */
  readonly verifyToken: string;
  /** The address of the Graph API with its version. Default `https://graph.facebook.com/v25.0`. */
  readonly baseUrl?: string | undefined;
  /** Time limit of a call, in milliseconds. After it the message is `unknown`. Default 20 000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Time limit of the upload of a file, in milliseconds. Default 90 000. */
  readonly uploadTimeoutMs?: number | undefined;
}

const SECRET = text(/^[\x21-\x7e]{16,200}$/, 'a text of 16 to 200 visible characters');
const SECRETS = list(SECRET, 'secrets');

const duration = any((given, place) => {
  const isDuration = typeof given === 'number' && given >= 100 && given <= 10 * MINUTE_MS;
  return isDuration ? given : place.refuse('must be a number of milliseconds from 100 to 600000');
});

const OPTIONS = group({
  appSecret: any((given, place) => {
    const secrets = Array.isArray(given) ? SECRETS.read(given, place) : [SECRET.read(given, place)];
    return secrets.length > 0 ? secrets : place.refuse('must have a secret');
  }),
  verifyToken: SECRET,
  baseUrl: urlOf([]).or(new URL('https://graph.facebook.com/v25.0')),
  requestTimeoutMs: duration.or(20_000),
  uploadTimeoutMs: duration.or(90_000),
} satisfies OptionsOf<WhatsappCloudOptions>);

/** The options with their defaults filled in. */
export type CloudSettings = ReturnType<(typeof OPTIONS)['read']>;

const PLACE = new OptionPlace('', (path) =>
  path === '' ? 'The options of WhatsappCloudMsgappTransport' : `Option ${path} of WhatsappCloudMsgappTransport`,
);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveCloudOptions(options: WhatsappCloudOptions): CloudSettings {
  return OPTIONS.read(options, PLACE);
}
