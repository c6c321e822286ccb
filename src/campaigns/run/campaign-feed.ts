import { Injectable } from '@nestjs/common';
import { AccountStore } from '../../accounts/account-store.js';
import { Clock } from '../../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../../common/errors.js';
import { SECOND_MS } from '../../common/time.js';
import type { PauseReason } from '../../events/events.api.js';
import { OperatingSwitches } from '../../outbox/operating-state.js';
import { SMS } from '../../sms/sms-channel.js';
import { SmsSettings } from '../../sms/sms-options.js';
import { SmsService } from '../../sms/sms-service.js';
import type { Campaign, PendingRecipient } from '../campaign.js';
import { CampaignText } from '../recipients/campaign-text.js';
import { CampaignRunSettings } from './run-settings.js';
import { sliceStep } from './slice-step.js';

/** How many slices a minute has, if the speed limit decides on their size. */
const SLICES_PER_MINUTE = 6;

/** What became of recipients that were to become an SMS. */
export type Fed =
  | { readonly kind: 'accepted' }
  /** The campaign has changed since it was read. */
  | { readonly kind: 'moved' }
  /** The SMS costs too much, or is refused for another reason. Fewer recipients may be accepted. */
  | { readonly kind: 'refused'; readonly reason: PauseReason; readonly code: string }
  /** The API key that started the campaign has spent what it may spend today. */
  | { readonly kind: 'capped'; readonly waitMs: number };

/**
 * The size of the slices of a campaign, and the time between two of them in milliseconds.
 * @param most the most recipients of a slice
 */
export function paceOf(
  { perMinute }: Pick<Campaign, 'perMinute'>,
  most: number,
): { readonly size: number; readonly restMs: number } {
  if (perMinute === undefined) return { size: most, restMs: 0 };
  const size = Math.min(most, Math.max(1, Math.floor(perMinute / SLICES_PER_MINUTE)));
  // Rounded so that no minute has more than the limit.
  return { size, restMs: Math.ceil((60 * SECOND_MS) / Math.floor(perMinute / size)) };
}

/** Turns recipients of campaigns into SMS. */
@Injectable()
export class CampaignFeed {
  constructor(
    private readonly sms: SmsService,
    private readonly settings: SmsSettings,
    private readonly accounts: AccountStore,
    private readonly switches: OperatingSwitches,
    private readonly run: CampaignRunSettings,
    private readonly clock: Clock,
  ) {}

  /** Why a campaign cannot go on now; undefined if nothing is in the way. @throws StorageUnavailableError */
  async obstacleOf({ accountId }: Campaign): Promise<PauseReason | undefined> {
    if ((await this.accounts.accountState(accountId)) !== 'active') return 'account_suspended';
    const paused = await this.switches.pausedOf(SMS);
    return paused === 'all' || paused?.includes(accountId) ? 'channel_paused' : undefined;
  }

  /**
   * Makes the next recipients of a campaign one SMS. In the same transaction they leave the campaign.
   * @throws StorageUnavailableError the SMS may have been accepted; the campaign's row says whether it was
   */
  async feed(campaign: Campaign, recipients: readonly PendingRecipient[]): Promise<Fed> {
    const { accountId, signature, metadata, key, validFor, window = null } = campaign;
    const valid_for = validFor === undefined ? undefined : validFor / SECOND_MS;
    const { restMs } = paceOf(campaign, this.run.slice);
    const step = sliceStep({ campaign, recipients, restMs, now: this.clock.now() });
    try {
      await this.sms.accept(
        accountId,
        { signature, metadata, priority: 'bulk', valid_for, window, ...this.addressed(campaign, recipients) },
        { key, stepOf: () => step },
      );
      return { kind: 'accepted' };
    } catch (error) {
      if (!(error instanceof MessagingError) || error instanceof StorageUnavailableError) throw error;
      return fedOf(error);
    }
  }

  private addressed({ content }: Campaign, recipients: readonly PendingRecipient[]) {
    const text = CampaignText.of(content, this.settings);
    if (text.plain !== undefined) return { content: text.plain, number: recipients.map(({ number }) => number) };
    return { content, to: recipients.map(({ number, vars = {} }) => ({ number, vars })) };
  }
}

function fedOf({ code, retryAfter = 0 }: MessagingError): Fed {
  if (code === 'error.campaign_moved') return { kind: 'moved' };
  if (code === 'error.key_cap') return { kind: 'capped', waitMs: retryAfter * SECOND_MS };
  if (code === 'error.insufficient_balance') return { kind: 'refused', reason: 'insufficient_balance', code };
  if (code === 'error.account_not_found') return { kind: 'refused', reason: 'account_suspended', code };
  return { kind: 'refused', reason: 'send_refused', code };
}
