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

/** The queues to pause. At least one of the two fields is required. */
export interface PauseDraft {
  readonly channel?: string | null | undefined;
  readonly account?: string | null | undefined;
}

/** Manages the queues of all channels, for operators. Each method can throw `error.storage_unavailable`. */
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

  /** Returns how many messages wait in each channel, by priority, and the pauses. */
  async read(): Promise<QueuesView> {
    const depths = await this.control.depths(this.channels.all().map(({ name }) => name));
    const items = depths.map(({ oldestDue, ...depth }) => ({
      ...depth,
      oldest_due: isoOf(oldestDue),
    }));
    return { items, ...(await this.pauses()) };
  }

  /**
   * Pauses a channel, an account, or an account on a channel: no messages of these queues are claimed any more, in all processes
   * within five seconds. This includes codes. Running attempts go on, and messages keep their deadlines.
   *
   * @returns all pauses
   * @throws MessagingError `error.field_missing` if both fields are missing, `error.field_invalid` for an unknown channel,
   * `error.account_not_found`
   */
  pause(draft: PauseDraft, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.switch('pause', draft, options);
  }

  /** Ends the pause of exactly this channel and account. @throws MessagingError the errors of `pause` */
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
        // This also happens after a storage error, because the change may have been committed.
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
