import { any, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';
import { originOf } from '../common/origin.js';

/**
 * Addresses that the fetcher may use besides public ones: `none`; `loopback`, this machine's loopback addresses on any
 * port (for samples and tests, and never if untrusted clients have a key); or origins such as
 * `https://files.example.com:8443`.
 */
export type MediaAllow = 'none' | 'loopback' | readonly string[];

/** Options of media fetching. */
export interface MediaOptions {
  /**
   * Addresses besides public ones. Default `none`. If an origin is listed, the addresses of its host are not checked.
   * All other checks remain.
   */
  readonly allow?: MediaAllow | undefined;
}

/** `MediaOptions`, checked and with defaults. */
export abstract class MediaSettings {
  abstract readonly loopback: boolean;
  /** The allowed origins, as the URL standard serialises them: lower case, without a default port. */
  abstract readonly origins: ReadonlySet<string>;
}

/** Only public addresses are allowed. */
export const NO_ADDRESSES: MediaSettings = { loopback: false, origins: new Set() };

/** How a `MediaAllow` is read. */
export const ALLOWED_ADDRESSES = any((given, place): MediaSettings => {
  if (given === 'none' || given === 'loopback') return { loopback: given === 'loopback', origins: new Set() };
  if (!Array.isArray(given)) return place.refuse('must be "none", "loopback" or a list of origins');
  return { loopback: false, origins: new Set(given.map((each, index) => originOf(each, place.in(`[${index}]`)))) };
});

/** How the options about media are read. */
export const MEDIA_OPTIONS = optionalGroup({
  allow: ALLOWED_ADDRESSES.or(NO_ADDRESSES),
} satisfies OptionsOf<MediaOptions>);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveMediaSettings(options?: MediaOptions): MediaSettings {
  return MEDIA_OPTIONS.read(options, new OptionPlace('media')).allow;
}
