import { Injectable, Optional } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { AddressGuard, hostOf, isLoopbackAddress, MediaNetwork, SystemNetwork } from '../../media/address-guard.js';
import { MediaRefusedError } from '../../media/media-fetcher.js';
import { WebhookSettings } from '../webhook-options.js';
import { MAX_WEBHOOK_URL } from './endpoint.api.js';

/** Returns the addresses of a target that a module of this process allows. Undefined: the module does not know the target. */
type TargetRule = (url: URL) => readonly string[] | undefined;

/**
 * Decides which addresses webhooks may call: https at public addresses, the addresses in the option `webhooks.allow`, and targets
 * that a module of this process allows. It decides when an endpoint is made and again for each connection, because a name may
 * resolve to another address later.
 */
@Injectable()
export class WebhookTargets {
  private readonly guard: AddressGuard;
  private readonly rules = new Set<TargetRule>();

  constructor(
    private readonly settings: WebhookSettings,
    @Optional() network: MediaNetwork = new SystemNetwork(),
  ) {
    this.guard = new AddressGuard(settings.allow, network);
  }

  /**
   * Allows further targets in this process.
   * @returns a function that withdraws the permission
   */
  allow(rule: TargetRule): () => void {
    this.rules.add(rule);
    return () => this.rules.delete(rule);
  }

  /**
   * Reads and checks a URL from a caller, with one look-up of its name. Use only the returned URL from then on, so that two
   * parsers cannot disagree.
   *
   * @throws MessagingError `error.webhook_url_refused`, the same for every fault of the URL
   */
  async check(text: string): Promise<URL> {
    try {
      const url = parse(text);
      await this.addressesOf(url);
      return url;
    } catch (error) {
      if (error instanceof MediaRefusedError) throw new MessagingError('error.webhook_url_refused');
      throw error;
    }
  }

  /**
   * Returns the addresses to connect to. If one address of the name is not allowed, all are refused.
   * @throws MediaRefusedError
   */
  async addressesOf(url: URL): Promise<readonly string[]> {
    const ruled = this.ruled(url);
    if (ruled) return ruled;
    if (url.protocol !== 'https:' && !this.isAllowed(url)) throw new MediaRefusedError('not https');
    return this.guard.addressesOf(url);
  }

  /** Whether a URL is allowed that need not be public. Its responses must not be shown to anybody. */
  isAllowed(url: URL): boolean {
    const { loopback, origins } = this.settings.allow;
    const host = hostOf(url);
    const local = isLoopbackAddress(host) || /(^|\.)localhost$/.test(host);
    return origins.has(url.origin) || (loopback && local) || this.ruled(url) !== undefined;
  }

  private ruled(url: URL): readonly string[] | undefined {
    for (const rule of this.rules) {
      const addresses = rule(url);
      if (addresses) return addresses;
    }
    return undefined;
  }
}

function parse(text: string): URL {
  if (text.length > MAX_WEBHOOK_URL || !URL.canParse(text)) throw new MediaRefusedError('not a URL');
  const url = new URL(text);
  if (url.href.length > MAX_WEBHOOK_URL) throw new MediaRefusedError('not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new MediaRefusedError('neither http nor https');
  if (url.username !== '' || url.password !== '') throw new MediaRefusedError('credentials in the URL');
  return url;
}
