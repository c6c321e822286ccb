import { MediaRefusedError } from './media-fetcher.js';

/** RFC 9110 section 4.1 asks recipients to take at least this many; signed links come close. */
const LONGEST_URL = 8000;

/**
 * Reads a URL that a caller or a redirect names, and refuses what needs no look-up: other schemes than http and https,
 * credentials, more than 8000 characters. What it gives back is the only reading anybody goes by.
 * @param base what a redirect's URL may be relative to
 * @throws MediaRefusedError
 */
export function mediaUrl(text: string, base?: URL): URL {
  if (text.length > LONGEST_URL || !URL.canParse(text, base?.href)) throw new MediaRefusedError('not a URL');
  const url = new URL(text, base);
  if (url.href.length > LONGEST_URL) throw new MediaRefusedError('not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new MediaRefusedError('neither http nor https');
  if (url.username !== '' || url.password !== '') throw new MediaRefusedError('credentials in the URL');
  if (base?.protocol === 'https:' && url.protocol !== 'https:')
    throw new MediaRefusedError('redirect from https to http');
  return url;
}

/** The port that a URL names or means. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** The host of a URL: a name without a closing dot, or an address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
