import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { Cancellation } from '../../outbox/schedule/cancellation.js';
import type { Campaign, Slice } from '../campaign.js';
import { SliceStore } from './slice-store.js';

/** How many slices are read and counted at a time. */
const AT_A_TIME = 20;

/** Cancels the SMS of canceled campaigns that still wait for a carrier. */
@Injectable()
export class CampaignWithdrawal {
  constructor(
    private readonly slices: SliceStore,
    private readonly cancellation: Cancellation,
    private readonly clock: Clock,
  ) {}

  /**
   * Cancels every SMS of a campaign that no worker has claimed, refunds it, and counts anew. Each SMS is canceled in transactions of
   * its own, so a crash leaves some of them. A repeat cancels the rest.
   *
   * @param campaign a canceled campaign, which accepts nothing more
   */
  async withdraw(campaign: Campaign): Promise<void> {
    let from = campaign.foldedTo;
    for (;;) {
      const page = await this.slices.waiting(campaign, from, AT_A_TIME);
      for (const slice of page) await this.cancel(campaign, slice);
      await this.slices.keep(campaign, await this.slices.count(page, this.clock.now()), this.clock.now());
      const last = page.at(-1);
      if (!last || page.length < AT_A_TIME) return;
      from = last.first + last.recipients;
    }
  }

  private async cancel({ accountId }: Campaign, { messageId: id }: Slice): Promise<void> {
    try {
      await this.cancellation.cancel({ id, accountId });
    } catch (error) {
      // Retention may have removed the SMS.
      if (!(error instanceof MessagingError) || error.code !== 'error.message_not_found') throw error;
    }
  }
}
