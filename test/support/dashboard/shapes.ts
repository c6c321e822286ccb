import type * as page from '../../../src/dashboard/web/api-types.js';
import type { AuditView } from '../../../src/management/audit/audit-view.js';
import type { KeyView } from '../../../src/management/keys/key-view.js';
import type { LedgerView } from '../../../src/management/ledger/ledger-view.js';
import type { MeView } from '../../../src/management/me/me-view.js';
import type { AccountView } from '../../../src/management/operator/accounts/account-view.js';
import type { ManagedSignatureView } from '../../../src/management/operator/accounts/managed-signatures.js';
import type { LedgerCheckView } from '../../../src/management/operator/ledger-checks/ledger-checks.js';
import type { SystemView } from '../../../src/management/operator/system-service.js';
import type { OptOutView } from '../../../src/management/optouts/optout-view.js';
import type { LinkView, UserSessionView } from '../../../src/management/session/user-session-view.js';
import type { SignatureView } from '../../../src/management/signatures/signature-view.js';
import type { OverviewView } from '../../../src/management/usage/overview-view.js';
import type { UsageView } from '../../../src/management/usage/usage-view.js';

type Fits<Expected, Answered extends Expected> = [Expected, Answered];

/** What the API answers is what the dashboard reads: a shape that has changed does not compile. The page cannot import the server's. */
export type Shapes = [
  Fits<page.Session, UserSessionView>,
  Fits<page.Me, MeView>,
  Fits<page.KeyView, KeyView>,
  Fits<page.SignatureView, SignatureView>,
  Fits<page.WaitingSignatureView, ManagedSignatureView>,
  Fits<page.LedgerView, LedgerView>,
  Fits<page.UsageView, UsageView>,
  Fits<page.OverviewView, OverviewView>,
  Fits<page.OptOutView, OptOutView>,
  Fits<page.AuditView, AuditView>,
  Fits<page.AccountView, AccountView>,
  Fits<page.LinkView, LinkView>,
  Fits<page.LedgerCheckView, LedgerCheckView>,
  Fits<page.SystemView, SystemView>,
];
