import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MediaNetwork, SystemNetwork } from '../../media/address-guard.js';
import { WebhookTargets } from '../endpoints/webhook-targets.js';
import { WebhookConnections } from './webhook-connections.js';

/**
 * Makes the HTTP calls of webhooks: https at public addresses only, but for what the host allows. The address that is dialled is
 * one that was checked, at every new connection. Redirects are not followed. A call takes at most 15 s and ends after 2 KiB of
 * the answer; what has answered by then is counted by its status.
 */
@Injectable()
export class WebhookHttp {
  constructor(
    private readonly targets: WebhookTargets,
    private readonly clock: Clock,
    @Optional() private readonly network: MediaNetwork = new SystemNetwork(),
  ) {}

  /** The connections to one endpoint; its user closes them. */
  connections(url: string): WebhookConnections {
    return new WebhookConnections(new URL(url), this.targets, this.network, this.clock);
  }

  /** Whether a URL is one that is allowed without being public, so that its answers are shown to nobody. */
  isAllowed(url: string): boolean {
    return this.targets.isAllowed(new URL(url));
  }
}
