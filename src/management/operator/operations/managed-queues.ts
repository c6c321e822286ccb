import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { MessagingError } from '../../../common/errors.js';
import { checkAccountId, checkInput, checkString } from '../../../common/inputs.js';
import { Notifier, publishNotice } from '../../../common/notifier.js';
import { isoOf } from '../../../common/phone-numbers/iso.js';
import { Channels } from '../../../outbox/channel.js';
import { Idempotency } from '../../../outbox/idempotency.js';
import type { QueuePause } from '../../../outbox/operating-state.js';
import type { Acceptance } from '../../../outbox/outbox.js';
import { ManagedAccountStore } from '../accounts/managed-account-store.js';
import { type OperatorCallOptions, operatorCall } from '../operator-call.js';
import { OperatingControl, type QueueScope } from './operating-control.js';
import type { PausesView, PauseView, QueuesView } from './queues.api.js';

/** Which queues; at least one of both. */
export interface PauseDraft {
  readonly channel?: string | null | undefined;
  readonly account?: string | null | undefined;
}

/** The queues of all channels, for operators. Each method throws `error.storage_unavailable`. */
@Injectable()
export class ManagedQueues {
  constructor(
    private readonly control: OperatingControl,
    private readonly channels: Channels,
    private readonly accounts: ManagedAccountStore,
    private readonly idempotency: Idempotency,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
  ) {}

  /** What waits in each channel, by priority, and what is paused. */
  async read(): Promise<QueuesView> {
    const depths = await this.control.depths(this.channels.all().map(({ name }) => name));
    const items = depths.map(({ oldestDue, ...depth }) => ({
      ...depth,
      oldest_due: isoOf(oldestDue),
    }));
    return { items, ...(await this.pauses()) };
  }

  /**
   * Has nothing more claimed of the queues of a channel, of an account, or of an account on a channel, codes neither, in all
   * processes within five seconds. What is under way goes on, and messages keep their deadlines.
   *
   * @returns the pauses there are
   * @throws MessagingError `error.field_missing` without both, `error.field_invalid` for an unknown channel,
   *   `error.account_not_found`
   */
  pause(draft: PauseDraft, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.switch('pause', draft, options);
  }

  /** Takes back the pause of exactly this channel and account. @throws MessagingError as `pause` */
  resume(draft: PauseDraft, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.switch('resume', draft, options);
  }

  private switch(what: 'pause' | 'resume', draft: PauseDraft, options: OperatorCallOptions): Promise<Acceptance> {
    const { by, once, scope: owner } = operatorCall('a pause', options);
    return this.idempotency.keeping(owner, `manage/queue/${what}`, once, async () => {
      const scope = await this.scopeOf(draft);
      try {
        await this.control[what](scope, { by, at: this.clock.now() });
      } finally {
        // Also after a storage error: the change may have been committed.
        publishNotice(this.notifier, 'operating', '*');
        const resumed = what === 'resume' ? this.channels.all() : [];
        for (const { name } of resumed) publishNotice(this.notifier, 'due', name);
      }
      return this.pauses();
    });
  }

  private async scopeOf(draft: PauseDraft): Promise<QueueScope> {
    checkInput(draft);
    const channel = draft.channel ?? undefined;
    const accountId = draft.account ?? undefined;
    if (channel === undefined && accountId === undefined) {
      throw new MessagingError('error.field_missing', { field: 'channel' });
    }
    if (channel !== undefined) checkString('channel', channel);
    if (channel !== undefined && !this.channels.find(channel)) {
      throw new MessagingError('error.field_invalid', { field: 'channel' });
    }
    if (accountId !== undefined) {
      checkAccountId(accountId);
      if (!(await this.accounts.find(accountId))) throw new MessagingError('error.account_not_found');
    }
    return { channel, accountId };
  }

  private async pauses(): Promise<PausesView> {
    const { pauses } = await this.control.state();
    return { paused: pauses.toSorted((a, b) => a.since - b.since).map(pauseView) };
  }
}

function pauseView({ channel, accountId, since }: QueuePause): PauseView {
  return { channel: channel ?? null, account: accountId ?? null, since: isoOf(since) };
}
