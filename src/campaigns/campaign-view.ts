import { SECOND_MS } from '../common/time.js';
import type { CampaignCounts, CampaignView } from './campaign.api.js';
import type { Campaign, SliceCounts } from './campaign.js';

/** A campaign with the counts of the recipients that have left it. */
export interface CountedCampaign {
  readonly campaign: Campaign;
  readonly counts: SliceCounts;
  /** How many recipients the counts have. */
  readonly counted: number;
}

export function campaignView({ campaign, counts, counted }: CountedCampaign, now: number): CampaignView {
  const { refunded, ...states } = counts;
  const pending = Math.max(0, campaign.recipients - counted);
  const isCanceled = campaign.status === 'canceled';
  const shown: CampaignCounts = {
    ...states,
    pending: isCanceled ? 0 : pending,
    canceled: states.canceled + (isCanceled ? pending : 0),
  };
  return {
    id: campaign.id,
    name: campaign.name,
    signature: campaign.signature,
    content: campaign.content,
    template: campaign.template ?? null,
    send_at: momentOf(campaign.sendAt),
    per_minute: campaign.perMinute ?? null,
    valid_for: campaign.validFor === undefined ? null : campaign.validFor / SECOND_MS,
    window: campaign.window ?? null,
    national: campaign.national,
    metadata: campaign.metadata ?? null,
    status: campaign.status,
    pause_reason: campaign.pauseReason ?? null,
    recipients_count: campaign.recipients,
    counts: shown,
    units: campaign.units,
    refunded_units: refunded,
    created_at: new Date(campaign.createdAt).toISOString(),
    started_at: momentOf(campaign.startedAt),
    ended_at: momentOf(campaign.endedAt),
    expected_end: momentOf(expectedEnd(campaign, pending, now)),
  };
}

/** When the last SMS of a running campaign will be accepted at its present speed; undefined as long as that is not known. */
function expectedEnd(
  { status, perMinute, accepted, pacedAt, pacedFrom }: Campaign,
  pending: number,
  now: number,
): number | undefined {
  if (status !== 'running') return undefined;
  const perMs = accepted > pacedFrom && now > pacedAt ? (accepted - pacedFrom) / (now - pacedAt) : undefined;
  const limit = perMinute === undefined ? undefined : perMinute / 60_000;
  const speed = Math.min(perMs ?? Number.POSITIVE_INFINITY, limit ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(speed) ? Math.round(now + pending / speed) : undefined;
}

function momentOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
