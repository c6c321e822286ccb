import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AddressGuard, hostOf, isLoopbackAddress, MediaNetwork, SystemNetwork } from '../../media/address-guard.js';
import { WebhookSettings } from '../webhook-options.js';
import { WebhookConnections } from './webhook-connections.js';

/**
 * Makes the HTTP calls of webhooks: https at public addresses only, but for what the host allows. The address that is dialled is
 * one that was checked, at every new connection. Redirects are not followed. A call takes at most 15 s and ends after 2 KiB of
 * the answer; what has answered by then is counted by its status.
 */
@Injectable()
export class WebhookHttp {
  private readonly guard: AddressGuard;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly clock: Clock,
    @Optional() private readonly network: MediaNetwork = new SystemNetwork(),
  ) {
    this.guard = new AddressGuard(settings.allow, network);
  }

  /** The connections to one endpoint; its user closes them. */
  connections(url: string): WebhookConnections {
    return new WebhookConnections(new URL(url), this.guard, this.network, this.clock, this.allows(url));
  }

  /** Whether a URL is one that the host allows without being public, so that its answers are shown to nobody. */
  isAllowed(url: string): boolean {
    const { loopback, origins } = this.settings.allow;
    const { origin } = new URL(url);
    const host = hostOf(new URL(url));
    return origins.has(origin) || (loopback && (isLoopbackAddress(host) || /(^|\.)localhost$/.test(host)));
  }

  /** Without encryption only what the host allows is called. */
  private allows(url: string): boolean {
    return new URL(url).protocol === 'https:' || this.isAllowed(url);
  }
}
