import { group, integer, OptionPlace, type OptionsOf } from '../common/options.js';
import { DAY_MS } from '../common/time.js';
import { DURATION } from '../outbox/retention/retention-options.js';
import { MAX_CAMPAIGN_RECIPIENTS } from './campaign.api.js';

/** Options of campaigns. */
export interface CampaignOptions {
  /** The maximum number of recipients of a campaign, 1 to 1 000 000. Default 1 000 000. */
  readonly maxRecipients?: number | undefined;
  /** The maximum size of a file of recipients in bytes, 1024 to 1 073 741 824. Default 268 435 456 (256 MiB). */
  readonly maxImportBytes?: number | undefined;
  /**
   * How long campaigns are kept after their end, with the recipients that never became an SMS: a whole number of hours, days,
   * weeks, months or years. Their SMS stay. Default `90 days`.
   */
  readonly keep?: string | undefined;
}

/** The checked `CampaignOptions` with their defaults filled in. */
export abstract class CampaignSettings {
  abstract readonly maxRecipients: number;
  abstract readonly maxImportBytes: number;
  /** How long campaigns are kept after their end, in milliseconds. */
  abstract readonly keepMs: number;
}

const MIB = 1_048_576;

/** Reads and checks `CampaignOptions`. */
export const CAMPAIGN_OPTIONS = {
  maxRecipients: integer(1, MAX_CAMPAIGN_RECIPIENTS).or(MAX_CAMPAIGN_RECIPIENTS),
  maxImportBytes: integer(1024, 1024 * MIB).or(256 * MIB),
  keep: DURATION.or(90 * DAY_MS),
} satisfies OptionsOf<CampaignOptions>;

const OPTIONS = group(CAMPAIGN_OPTIONS);

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveCampaignSettings(options: CampaignOptions | undefined): CampaignSettings {
  const { keep: keepMs, ...settings } = OPTIONS.read(options ?? {}, new OptionPlace('campaigns'));
  return { ...settings, keepMs };
}
