import type { ComponentType } from 'preact';
import { Overview } from '../screens/overview/overview.js';
import { texts } from './i18n.js';
import { chosenAccount } from './router.js';
import { can, me, type Permission } from './session.js';

const t = texts(
  {
    overview: 'Overview',
    messages: 'Messages',
    compose: 'Compose',
    scheduled: 'Scheduled',
    campaigns: 'Campaigns',
    codes: 'Codes',
    numbers: 'Numbers',
    signatures: 'Signatures',
    optouts: 'Opt-outs',
    webhooks: 'Webhooks',
    hooks: 'Log-in hooks',
    keys: 'Keys',
    balance: 'Balance',
    audit: 'Audit',
    'manage/accounts': 'Accounts',
    'manage/signatures': 'Signatures waiting',
    'manage/carriers': 'Carriers',
    'manage/queue': 'Queue',
    'manage/ledger': 'Ledger check',
    'manage/audit': 'Audit (all accounts)',
    'manage/system': 'System',
  },
  {
    overview: 'Vue d’ensemble',
    messages: 'Messages',
    compose: 'Rédiger',
    scheduled: 'Programmés',
    campaigns: 'Campagnes',
    codes: 'Codes',
    numbers: 'Numéros',
    signatures: 'Signatures',
    optouts: 'Désinscriptions',
    webhooks: 'Webhooks',
    hooks: 'Hooks de connexion',
    keys: 'Clés',
    balance: 'Solde',
    audit: 'Journal d’audit',
    'manage/accounts': 'Comptes',
    'manage/signatures': 'Signatures en attente',
    'manage/carriers': 'Opérateurs',
    'manage/queue': 'File d’attente',
    'manage/ledger': 'Contrôle du registre',
    'manage/audit': 'Audit (tous les comptes)',
    'manage/system': 'Système',
  },
);

type Name = Parameters<typeof t>[0];

export type Group = 'send' | 'reach' | 'develop' | 'money' | 'operator';

/** A screen. Its component gets the decoded part of the address below its path, which is empty for the screen itself. */
export interface ScreenEntry {
  readonly path: Name;
  readonly group: Group;
  /** The permission without which a user does not see the screen. */
  readonly permission: Permission;
  /** The capability that the screen needs. Default: none. */
  readonly capability?: 'sms' | 'otp' | 'msgapp' | 'webhooks' | 'hooks' | 'campaigns';
  load(): Promise<ComponentType<{ readonly rest: string }>>;
}

/** Every screen, in the order of the navigation. Each file is loaded when its screen is first opened. */
export const SCREENS: readonly ScreenEntry[] = [
  {
    path: 'overview',
    group: 'send',
    permission: 'usage.read',
    // This screen is a part of the first file, because most visits begin here.
    load: () => Promise.resolve(Overview),
  },
  {
    path: 'messages',
    group: 'send',
    permission: 'messages.read',
    load: () => import('../screens/messages/messages.js').then((file) => file.Messages),
  },
  {
    path: 'compose',
    group: 'send',
    permission: 'sms.send',
    load: () => import('../screens/compose/compose.js').then((file) => file.Compose),
  },
  {
    path: 'scheduled',
    group: 'send',
    permission: 'messages.read',
    load: () => import('../screens/scheduled/scheduled.js').then((file) => file.Scheduled),
  },
  {
    path: 'campaigns',
    group: 'send',
    permission: 'campaigns.read',
    capability: 'campaigns',
    load: () => import('../screens/campaigns/campaigns.js').then((file) => file.Campaigns),
  },
  {
    path: 'codes',
    group: 'send',
    permission: 'usage.read',
    capability: 'otp',
    load: () => import('../screens/codes/codes.js').then((file) => file.Codes),
  },
  {
    path: 'numbers',
    group: 'reach',
    permission: 'msgapp.status',
    capability: 'msgapp',
    load: () => import('../screens/numbers/numbers.js').then((file) => file.Numbers),
  },
  {
    path: 'signatures',
    group: 'reach',
    permission: 'signatures.read',
    load: () => import('../screens/signatures/signatures.js').then((file) => file.Signatures),
  },
  {
    path: 'optouts',
    group: 'reach',
    permission: 'optouts.read',
    load: () => import('../screens/optouts/optouts.js').then((file) => file.OptOuts),
  },
  {
    path: 'keys',
    group: 'develop',
    permission: 'keys.read',
    load: () => import('../screens/keys/keys.js').then((file) => file.Keys),
  },
  {
    path: 'webhooks',
    group: 'develop',
    permission: 'events.read',
    capability: 'webhooks',
    load: () => import('../screens/webhooks/webhooks.js').then((file) => file.Webhooks),
  },
  {
    path: 'hooks',
    group: 'develop',
    permission: 'hooks.read',
    capability: 'hooks',
    load: () => import('../screens/hooks/hooks.js').then((file) => file.Hooks),
  },
  {
    path: 'balance',
    group: 'money',
    permission: 'ledger.read',
    load: () => import('../screens/balance/balance.js').then((file) => file.Balance),
  },
  {
    path: 'audit',
    group: 'money',
    permission: 'audit.read',
    load: () => import('../screens/audit/audit.js').then((file) => file.Audit),
  },
  {
    path: 'manage/accounts',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/accounts/accounts.js').then((file) => file.Accounts),
  },
  {
    path: 'manage/signatures',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/signatures/signatures-waiting.js').then((file) => file.SignaturesWaiting),
  },
  {
    path: 'manage/carriers',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/carriers/carriers.js').then((file) => file.Carriers),
  },
  {
    path: 'manage/queue',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/queue/queue.js').then((file) => file.Queue),
  },
  {
    path: 'manage/ledger',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/ledger/ledger-check.js').then((file) => file.LedgerCheck),
  },
  {
    path: 'manage/audit',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/audit/audit.js').then((file) => file.AuditOfAll),
  },
  {
    path: 'manage/system',
    group: 'operator',
    permission: 'manage.read',
    load: () => import('../screens/system/system.js').then((file) => file.System),
  },
];

/** Whether the user may see a screen, and the service has the capability that the screen needs. */
export function isVisible({ permission, capability, group }: ScreenEntry): boolean {
  const who = me.value;
  if (!who || !can(permission)) return false;
  if (group !== 'operator' && who.account === null && chosenAccount() === undefined) return false;
  if (capability === undefined) return true;
  const has = who.capabilities[capability];
  return typeof has === 'boolean' ? has : has.length > 0;
}

/** Returns the path of the screen that is shown for an empty address. */
export function firstPath(): string {
  return SCREENS.find(isVisible)?.path ?? 'overview';
}

/** Returns the name of a screen in the current language. */
export function screenName({ path }: ScreenEntry): string {
  return t(path);
}

/** Returns the screen for an address, with the rest of the address below its path. */
export function screenAt(path: string): { readonly screen: ScreenEntry; readonly rest: string } | undefined {
  const screen = SCREENS.find((each) => path === each.path || path.startsWith(`${each.path}/`));
  return screen && { screen, rest: decoded(path.slice(screen.path.length + 1)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
