import type { PauseReason } from '../events/events.api.js';
import type { CampaignStatus } from './campaign.api.js';
import type { Campaign } from './campaign.js';

/** What somebody, or the campaign's process, may do to a campaign. */
export type CampaignAction = 'start' | 'begin' | 'pause' | 'resume' | 'complete' | 'cancel';

/** From which states an action is possible, and in which it has already been done. */
const ACTIONS: Readonly<Record<CampaignAction, Readonly<Record<'from' | 'done', readonly CampaignStatus[]>>>> = {
  start: { from: ['draft'], done: ['scheduled', 'running'] },
  begin: { from: ['scheduled'], done: ['running'] },
  pause: { from: ['scheduled', 'running'], done: ['paused'] },
  resume: { from: ['paused'], done: ['scheduled', 'running'] },
  complete: { from: ['running'], done: ['completed'] },
  cancel: { from: ['scheduled', 'running', 'paused'], done: ['canceled'] },
};

/** The columns that an action changes. */
export interface CampaignChange {
  readonly status: CampaignStatus;
  readonly pauseReason: PauseReason | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/**
 * Says how an action changes a campaign, whose states are `draft → scheduled → running ⇄ paused → completed | canceled`.
 * @param reason why it pauses
 * @returns the change; `done` if the campaign is already in the state that the action leads to; `refused` if the action is not
 * possible
 */
export function changeOf(
  action: CampaignAction,
  { status, sendAt, startedAt }: Pick<Campaign, 'status' | 'sendAt' | 'startedAt'>,
  now: number,
  reason: PauseReason = 'user',
): CampaignChange | 'done' | 'refused' {
  if (ACTIONS[action].done.includes(status)) return 'done';
  if (!ACTIONS[action].from.includes(status)) return 'refused';
  const change = { pauseReason: null, startedAt: startedAt ?? null, endedAt: null };
  switch (action) {
    case 'start':
    case 'resume': {
      // A campaign that has not begun is scheduled, also for now: its process begins it.
      const status = startedAt === undefined && (action === 'resume' || (sendAt ?? 0) > now) ? 'scheduled' : 'running';
      return { ...change, status, startedAt: status === 'running' ? (startedAt ?? now) : null };
    }
    case 'begin':
      return { ...change, status: 'running', startedAt: startedAt ?? now };
    case 'pause':
      return { ...change, status: 'paused', pauseReason: reason };
    case 'complete':
      return { ...change, status: 'completed', endedAt: now };
    case 'cancel':
      return { ...change, status: 'canceled', endedAt: now };
  }
}
