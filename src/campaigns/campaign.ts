import type { Metadata, PauseReason } from '../events/events.api.js';
import type { SendKey } from '../outbox/accept/send.js';
import type { DeliveryWindow } from '../outbox/windows/window.api.js';
import type { CampaignCounts, CampaignStatus } from './campaign.api.js';

/** What the account decides about a campaign when it makes it. Nothing of it changes later. */
export interface CampaignDefinition {
  readonly name: string;
  readonly signature: string;
  /** The text with its variables. It is a copy if it comes from a template. */
  readonly content: string;
  /** The name of the template that `content` comes from. */
  readonly template: string | undefined;
  /** When it starts at the earliest, milliseconds since the epoch. Undefined: at once. */
  readonly sendAt: number | undefined;
  /** The maximum number of SMS per minute. Undefined: as fast as the carriers take them. */
  readonly perMinute: number | undefined;
  /** How long after its acceptance an SMS may be handed over, in milliseconds. Undefined: no limit. */
  readonly validFor: number | undefined;
  /** The SMS are handed over only inside this window. Undefined: at any time. */
  readonly window: DeliveryWindow | undefined;
  readonly metadata: Metadata | undefined;
  /** Whether imports accept numbers of the home market in national form. */
  readonly national: boolean;
}

export interface NewCampaign extends CampaignDefinition {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: number;
}

/** The id of a campaign, and the account that it must belong to. */
export interface CampaignKey {
  readonly id: string;
  readonly accountId: string;
}

/** A campaign as it is stored. Times are milliseconds since the epoch. */
export interface Campaign extends NewCampaign {
  readonly status: CampaignStatus;
  readonly pauseReason: PauseReason | undefined;
  /** The API key that started it; undefined before, and for a user or the host's own code. */
  readonly key: SendKey | undefined;
  /** Imports with numbers up to this one are complete. */
  readonly batches: number;
  /** The end of the lease of an import; 0: none runs, and no rows of an unfinished one are left. */
  readonly importingUntil: number;
  readonly recipients: number;
  /** How many recipients have left it. */
  readonly accepted: number;
  /** The phone of the last one that has left it; '' before the first. */
  readonly place: string;
  readonly units: number;
  /** No SMS is accepted before this time. */
  readonly dueAt: number;
  /** When it was last started or resumed, and `accepted` at that time. */
  readonly pacedAt: number;
  readonly pacedFrom: number;
  /** The counts of the slices before this one are final; `folded` is their sum. */
  readonly foldedTo: number;
  readonly folded: SliceCounts | undefined;
  readonly epoch: number;
  readonly updatedAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** The counts of recipients that have left a campaign, and the units that were refunded for them. */
export interface SliceCounts extends Omit<CampaignCounts, 'pending'> {
  readonly refunded: number;
}

/** A send of a campaign. */
export interface Slice {
  /** How many recipients left the campaign before it. */
  readonly first: number;
  readonly messageId: string;
  readonly recipients: number;
  /** Undefined before the first count. */
  readonly counts: SliceCounts | undefined;
  readonly open: boolean;
  readonly countedAt: number;
  readonly acceptedAt: number;
}

/** A recipient that has not left its campaign. */
export interface PendingRecipient {
  /** The number in today's spelling, by which the recipients are ordered. */
  readonly phone: string;
  readonly number: string;
  readonly vars: Readonly<Record<string, string>> | undefined;
}
