import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { MediaNetwork, SystemNetwork } from '../../../media/address-guard.js';
import { WebhookTargets } from '../../endpoints/webhook-targets.js';
import { Deadlines } from './deadlines.js';
import { WebhookConnections } from './webhook-connections.js';

/** The longest time of a call, from the look-up of the name to the end of the response, in milliseconds. */
const CALL_MS = 15_000;

/**
 * Makes the HTTP calls of webhooks. It calls only https at public addresses, and what the host allows. For every new connection
 * it checks the address and then connects to the checked address. It does not follow redirects. A call takes at most 15 s and
 * reads at most 2 KiB of the response. If a status has come by then, the status counts.
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

  /** Returns connections to one endpoint. The caller must close them. */
  connections(url: string): WebhookConnections {
    return new WebhookConnections(new URL(url), this.targets, this.network, this.clock, this.limits);
  }

  /** Whether the host allows a URL that need not be public. Its responses must not be shown to anybody. */
  isAllowed(url: string): boolean {
    return this.targets.isAllowed(new URL(url));
  }
}
