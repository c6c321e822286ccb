import { MessagingOptionsError } from '../common/errors.js';

/**
 * Addresses that the fetcher may use besides public ones: `none`; `loopback`, this machine's loopback addresses on any port
 * (for samples and tests, never where untrusted clients have a key); or origins such as `https://files.example.com:8443`.
 */
export type MediaAllow = 'none' | 'loopback' | readonly string[];

/** Options of media fetching. */
export interface MediaOptions {
  /** Default `none`. A listed origin is not checked for the addresses it resolves to; all other checks remain. */
  readonly allow?: MediaAllow | undefined;
}

/** `MediaOptions`, checked and with defaults. */
export abstract class MediaSettings {
  abstract readonly loopback: boolean;
  /** Origins as the URL standard serialises them: lower case, without a default port. */
  abstract readonly origins: ReadonlySet<string>;
}

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveMediaSettings({ allow = 'none' }: MediaOptions = {}): MediaSettings {
  if (allow === 'none' || allow === 'loopback') return { loopback: allow === 'loopback', origins: new Set() };
  if (!Array.isArray(allow)) {
    throw new MessagingOptionsError('Option media.allow must be "none", "loopback" or a list of origins.');
  }
  return { loopback: false, origins: new Set(allow.map(originOf)) };
}

function originOf(text: unknown, at: number): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  const whole = url !== undefined && `${url.origin}/` === url.href && /^https?:\/\/[^*]+$/.test(url.origin);
  if (whole) return url.origin;
  throw new MessagingOptionsError(
    `Option media.allow[${at}] must be an origin, http or https with a host and no more, such as "https://files.example.com".`,
  );
}
