import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { any, type Option } from '../../common/options.js';
import { isPublicAddress } from '../../media/address-guard.js';

/** Reads the name or private address of a host that may be reached without TLS, in the form of URLs. */
export const plainHost: Option<string> = any((given, place) => {
  const written = typeof given === 'string' && isIP(given) === 6 ? `[${given}]` : given;
  const isHost = typeof written === 'string' && /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/i.test(written);
  if (!isHost || !URL.canParse(`http://${written}`)) {
    return place.refuse('must be the name or the address of a host, without scheme, port and path: "kannel"');
  }
  const { hostname } = new URL(`http://${written}`);
  return isPublicAddress(bare(hostname)) ? place.refuse('must not be an address of the public Internet') : hostname;
});

/**
 * Reads an `https:` URL without credentials, query and fragment. `http:` is allowed only for loopback addresses and for the given
 * hosts.
 */
export function urlOf(plainHosts: readonly string[]): Option<URL> {
  return any((given, place) => {
    const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
    if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && mayBePlain(url.hostname, plainHosts)))) {
      return place.refuse(
        'must be an https:// URL (http:// only to this machine, and to private hosts that the option http.allowHttp names)',
      );
    }
    if (url.username || url.password || url.search || url.hash) {
      place.refuse('must be a URL without credentials, query and fragment');
    }
    return url;
  });
}

function mayBePlain(hostname: string, plainHosts: readonly string[]): boolean {
  return isLoopback(hostname) || plainHosts.includes(hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Looks up a host that is reached without TLS. If one of its addresses is public, the look-up finds no address. */
export const lookupPrivate: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error || first === undefined) {
      callback(error ?? lookupError('ENOTFOUND'), '', 0);
    } else if (addresses.some(({ address }) => isPublicAddress(address))) {
      callback(lookupError('public_address'), '', 0);
    } else if (options.all) {
      callback(null, addresses);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

function lookupError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error('The host has no private address.'), { code });
}
