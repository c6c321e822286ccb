import { MessagingOptionsError } from '../common/errors.js';
import { boolean, group, OptionPlace, type OptionsOf } from '../common/options.js';
import { ALLOWED_ADDRESSES, type MediaAllow, type MediaSettings, NO_ADDRESSES } from '../media/media-options.js';
import { DURATION, secretOf } from '../outbox/retention/retention-options.js';

/** Options of webhooks, the feed and the stream of events. */
export interface WebhookOptions {
  /** The secret that the secrets of endpoints are derived from: at least 32 random characters, kept outside the database. */
  readonly pepper: string;
  /** The old `pepper` after a change. Secrets that are derived from it go on signing until they are rotated. Default none. */
  readonly previousPepper?: string | undefined;
  /** Whether all phone numbers in events are masked. Default false. */
  readonly maskNumbers?: boolean | undefined;
  /**
   * Which endpoints are allowed besides https at public addresses: `none`, `loopback`, or a list of origins, also with http.
   * Default `none`.
   */
  readonly allow?: MediaAllow | undefined;
  /** How long events are kept: a whole number of hours, days, weeks, months or years. Default `30 days`. */
  readonly keep?: string | undefined;
}

/** The checked `WebhookOptions` with their defaults filled in. */
export abstract class WebhookSettings {
  /** The keys of the peppers, the current one first. */
  abstract readonly keys: readonly Buffer[];
  abstract readonly maskNumbers: boolean;
  /** The addresses that endpoints may have besides public ones. */
  abstract readonly allow: MediaSettings;
  /** How long events are kept, in milliseconds. Undefined: the log's default. */
  abstract readonly keepMs?: number | undefined;
}

const PEPPER = secretOf('webhooks');

/** Reads and checks `WebhookOptions`. */
export const WEBHOOK_OPTIONS = {
  pepper: PEPPER,
  previousPepper: PEPPER.or(undefined),
  maskNumbers: boolean.or(false),
  allow: ALLOWED_ADDRESSES.or(NO_ADDRESSES),
  keep: DURATION.or(undefined),
} satisfies OptionsOf<WebhookOptions>;

const OPTIONS = group(WEBHOOK_OPTIONS);

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveWebhookSettings(options: WebhookOptions | undefined): WebhookSettings {
  if (options?.pepper === undefined) {
    throw new MessagingOptionsError(
      'Option webhooks is missing: { pepper }, the secret that the secrets of endpoints are derived from. Make one with "openssl rand -base64 48" and keep it outside the database.',
    );
  }
  const { pepper, previousPepper, keep, ...settings } = OPTIONS.read(options, new OptionPlace('webhooks'));
  return { ...settings, keys: [pepper, ...(previousPepper ? [previousPepper] : [])], keepMs: keep };
}
