import { any, type OptionPlace } from './options.js';

/**
 * Reads an option that is an origin. The result is the origin as the URL standard serialises it: lower case, without a
 * default port.
 */
export const ORIGIN = any((given, place) => originOf(given, place));

/** @throws MessagingOptionsError for anything but http or https with a host and nothing else */
export function originOf(given: unknown, place: OptionPlace): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const whole = url !== undefined && `${url.origin}/` === url.href && /^https?:\/\/[^*]+$/.test(url.origin);
  if (whole) return url.origin;
  return place.refuse('must be an origin, http or https with a host and no more, such as "https://files.example.com"');
}
