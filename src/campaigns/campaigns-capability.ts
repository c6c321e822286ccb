import type { FactoryProvider } from '@nestjs/common';
import { phoneOf } from '../common/phone-numbers/phone-spellings.js';
import type { Capability } from '../core/capability.js';
import { CsvStreams } from '../http/csv.js';
import { Purger } from '../outbox/purger.js';
import { type ErasureRule, provideErasure } from '../outbox/retention/erasure-service.js';
import { CampaignCounter } from './campaign-counts.js';
import { CampaignSettings } from './campaign-options.js';
import { CampaignQuotes } from './campaign-quotes.js';
import { CampaignService } from './campaign-service.js';
import { CampaignStore } from './campaign-store.js';
import { campaignsOpenapi } from './campaigns.openapi.js';
import { RecipientImport } from './recipients/recipient-import.js';
import { RecipientListing } from './recipients/recipient-listing.js';
import { RecipientStore } from './recipients/recipient-store.js';
import { CampaignFeed } from './run/campaign-feed.js';
import { CampaignRunner } from './run/campaign-runner.js';
import { CampaignWithdrawal } from './run/campaign-withdrawal.js';
import { LeaseStore } from './run/lease-store.js';
import { CampaignRunSettings } from './run/run-settings.js';
import { SliceStore } from './run/slice-store.js';

/** Campaigns that have ended are kept for a time. Their SMS are kept as long as others. */
const PURGE: FactoryProvider<void> = {
  provide: Symbol('purge of campaigns'),
  useFactory: (purger: Purger, store: CampaignStore, { keepMs }: CampaignSettings) =>
    purger.add({ what: 'ended campaigns', keepMs, purge: (before, limit) => store.purge(before, limit) }),
  inject: [Purger, CampaignStore, CampaignSettings],
};

/** An erased number gets no SMS of a campaign that it has not left. Its other SMS are erased as those of every send. */
function campaignErasure(store: RecipientStore): ErasureRule {
  return { what: 'campaignRecipients', accounts: (number, ids) => store.erase(phoneOf(number), ids) };
}

/** The part of the module that does not depend on the options. */
export const CAMPAIGNS_CAPABILITY: Capability = {
  stores: [CampaignStore, RecipientStore, SliceStore, LeaseStore],
  controllers: [campaignsOpenapi],
  providers: [
    CsvStreams,
    RecipientImport,
    RecipientListing,
    CampaignCounter,
    CampaignQuotes,
    CampaignRunSettings,
    CampaignFeed,
    CampaignWithdrawal,
    CampaignRunner,
    CampaignService,
    PURGE,
    provideErasure(campaignErasure, [RecipientStore]),
  ],
  exports: [CampaignSettings, CampaignService],
};
