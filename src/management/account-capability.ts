import type { Capability } from '../core/capability.js';
import { CsvStreams } from '../http/csv.js';
import { auditOpenapi } from './audit/audit.openapi.js';
import { AuditService } from './audit/audit-service.js';
import { CodeCounter } from './codes/code-counter.js';
import { codesOpenapi } from './codes/codes.openapi.js';
import { CodesService } from './codes/codes-service.js';
import { ledgerOpenapi } from './ledger/ledger.openapi.js';
import { LedgerListing } from './ledger/ledger-listing.js';
import { meOpenapi } from './me/me.openapi.js';
import { MeService } from './me/me-service.js';
import { Standstills } from './me/standstills.js';
import { AccountOptOuts } from './optouts/account-opt-outs.js';
import { optOutsOpenapi } from './optouts/optouts.openapi.js';
import { AccountSignatures } from './signatures/account-signatures.js';
import { signaturesOpenapi } from './signatures/signatures.openapi.js';
import { overviewOpenapi } from './usage/overview.openapi.js';
import { OverviewService } from './usage/overview-service.js';
import { OverviewStore } from './usage/overview-store.js';
import { usageOpenapi } from './usage/usage.openapi.js';
import { UsageRollUp } from './usage/usage-roll-up.js';
import { UsageService } from './usage/usage-service.js';
import { UsageStore } from './usage/usage-store.js';

/** The routes of an account's users, and of an operator who names the account. */
export const ACCOUNT_CAPABILITY: Capability = {
  stores: [OverviewStore, UsageStore],
  controllers: [
    meOpenapi,
    signaturesOpenapi,
    optOutsOpenapi,
    auditOpenapi,
    ledgerOpenapi,
    usageOpenapi,
    overviewOpenapi,
    codesOpenapi,
  ],
  providers: [
    MeService,
    Standstills,
    AccountSignatures,
    AccountOptOuts,
    AuditService,
    CsvStreams,
    LedgerListing,
    UsageService,
    UsageRollUp,
    OverviewService,
    CodeCounter,
    CodesService,
  ],
  exports: [
    AccountSignatures,
    AccountOptOuts,
    AuditService,
    LedgerListing,
    UsageService,
    OverviewService,
    CodesService,
    OverviewStore,
  ],
};
