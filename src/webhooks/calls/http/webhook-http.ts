import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { MediaNetwork, SystemNetwork } from '../../../media/address-guard.js';
import { WebhookTargets } from '../../endpoints/webhook-targets.js';
import { Deadlines } from './deadlines.js';
import { WebhookConnections } from './webhook-connections.js';

/** The longest time of a call, from the look-up of the name to the end of the answer, in milliseconds. */
const CALL_MS = 15_000;

/**
 * Makes the HTTP calls of webhooks: https at public addresses only, but for what the host allows. The address that is dialled is
 * one that was checked, at every new connection. Redirects are not followed. A call takes at most 15 s and ends after 2 KiB of
 * the answer; what has answered by then is counted by its status.
 */
@Injectable()
export class WebhookHttp {
  private readonly limits: Deadlines;

  constructor(
    private readonly targets: WebhookTargets,
    private readonly clock: Clock,
    @Optional() private readonly network: MediaNetwork = new SystemNetwork(),
  ) {
    this.limits = new Deadlines(CALL_MS, clock);
  }

  /** The connections to one endpoint; its user closes them. */
  connections(url: string): WebhookConnections {
    return new WebhookConnections(new URL(url), this.targets, this.network, this.clock, this.limits);
  }

  /** Whether a URL is one that is allowed without being public, so that its answers are shown to nobody. */
  isAllowed(url: string): boolean {
    return this.targets.isAllowed(new URL(url));
  }
}
