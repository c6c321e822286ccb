import type { NewEvent } from '../events/event-types.js';
import type { CampaignData } from '../events/events.api.js';
import type { Campaign } from './campaign.js';
import type { CampaignAction } from './campaign-states.js';

/**
 * The event of a campaign that an action has changed; none for a start that only schedules it.
 * @param campaign the campaign after the action
 */
export function campaignEvents(action: CampaignAction, campaign: Campaign, at: number): readonly NewEvent[] {
  const { id, name, accountId, status, recipients, accepted, units } = campaign;
  const data: CampaignData = { id, name, recipients_count: recipients, accepted_count: accepted, units };
  switch (action) {
    case 'start':
    case 'begin':
      return status === 'running' ? [{ type: 'campaign.started', accountId, at, data }] : [];
    case 'pause':
      return [{ type: 'campaign.paused', accountId, at, data: { ...data, reason: campaign.pauseReason ?? 'user' } }];
    case 'resume':
      return [{ type: 'campaign.resumed', accountId, at, data }];
    case 'complete':
      return [{ type: 'campaign.completed', accountId, at, data }];
    case 'cancel':
      return [{ type: 'campaign.canceled', accountId, at, data }];
  }
}
