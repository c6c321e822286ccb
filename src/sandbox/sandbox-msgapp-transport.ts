import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { IdGenerator } from '../common/ids.js';
import {
  type Link,
  type LinkListener,
  type LinkOrder,
  MsgappTransport,
  type SessionTiming,
} from '../msgapp/msgapp-transport.js';
import type { DeliveryTiming } from '../outbox/delivery-result.js';
import { PhoneStore } from './phone-store.js';
import { SandboxFeed } from './sandbox-feed.js';
import { SandboxMsgappLink } from './sandbox-msgapp-link.js';
import { SandboxScanner } from './sandbox-scanner.js';

/**
 * The embedded default transport of messaging-app channels: no network. The codes that it shows are scanned by the sandbox's
 * phones; what is delivered is kept by the phone of its number, and magic numbers do what they do for SMS.
 */
@Injectable()
export class SandboxMsgappTransport extends MsgappTransport {
  override readonly name = 'sandbox';

  /** A phone keeps one message of one id, however often it comes. */
  override readonly repeat = 'idempotent';

  /** Quick, so that all three attempts at a `…990002` fit into 5 s and a crash is forgotten after 10 s. */
  override readonly timing: Partial<DeliveryTiming> = {
    leaseMs: 10_000,
    reportDeadlineMs: 10_000,
    retryBaseMs: 500,
    retryMaxMs: 1_000,
  };

  override readonly sessions: Partial<SessionTiming> = { leaseMs: 10_000, staggerMs: 20 };

  constructor(
    private readonly phones: PhoneStore,
    private readonly feed: SandboxFeed,
    private readonly scanner: SandboxScanner,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {
    super();
  }

  override async open(order: LinkOrder, listener: LinkListener): Promise<Link> {
    const { phones, feed, scanner, clock, ids } = this;
    const link = new SandboxMsgappLink(order, listener, { phones, feed, scanner, clock, ids });
    void link.begin();
    return link;
  }
}
