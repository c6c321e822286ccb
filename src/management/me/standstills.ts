import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MINUTE_MS } from '../../common/time.js';
import { Channels } from '../../outbox/channel.js';
import { OperatingSwitches } from '../../outbox/operating-state.js';
import { SmsChannel } from '../../sms/sms-channel.js';
import { WebhookService } from '../../webhooks/endpoints/webhook-service.js';
import { OverviewStore } from '../usage/overview-store.js';
import type { StandstillView } from './me.api.js';

/**
 * An endpoint is named when all of its calls have failed for this long, in milliseconds. A receiver that restarts is back earlier.
 */
const FAILING_MS = 5 * MINUTE_MS;

/** Finds out why messages or calls wait although the caller's own program works, so that its screens can say so. */
@Injectable()
export class Standstills {
  constructor(
    private readonly switches: OperatingSwitches,
    private readonly channels: Channels,
    private readonly store: OverviewStore,
    private readonly clock: Clock,
    @Optional() private readonly webhooks?: WebhookService,
  ) {}

  /**
   * Pauses and routes come from memory, at most about two seconds old, so that people may ask often.
   * @param accountId the account. Undefined: an operator who names none, who sees the pauses of all accounts
   * @throws StorageUnavailableError
   */
  async of(accountId: string | undefined): Promise<readonly StandstillView[]> {
    const { pauses, rested } = await this.switches.current();
    const concerned = pauses.filter((pause) => [undefined, accountId ?? pause.accountId].includes(pause.accountId));
    return [
      ...concerned.map((pause) => ({
        kind: 'deliveries_paused' as const,
        channel: pause.channel ?? null,
        target: pause.accountId ?? null,
      })),
      ...this.channels
        .ofType(SmsChannel)
        .flatMap(({ name, carriers }) =>
          carriers.length > 0 && carriers.every((route) => !route.usable || rested.has(route.name))
            ? [{ kind: 'no_route' as const, channel: name, target: null }]
            : [],
        ),
      ...(accountId !== undefined && this.webhooks ? await this.failingWebhooks(accountId) : []),
    ];
  }

  private async failingWebhooks(accountId: string): Promise<readonly StandstillView[]> {
    const ids = await this.store.failingEndpoints(accountId, this.clock.now() - FAILING_MS);
    return ids.map((id) => ({ kind: 'webhook_failing' as const, channel: null, target: id }));
  }
}
