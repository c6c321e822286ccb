import {
  type AccountRole,
  isAccountRole,
  isAtLeast,
  isOperatorRole,
  KEY_SCOPES,
  type OperatorRole,
  PERMISSION_NAMES,
  permissionOf,
} from '../../../src/accounts/keys/permissions.js';
import type { AuditEntry, Key, ManagedAccount, Me, Signature } from '../../../src/client/manage/index.js';
import { MINUTE_MS } from '../../../src/common/time.js';
import { type FakeRequest, type FakeRoutes, refusal } from './fake-api.js';

import { EMPTY_SCREENS, FULL_SCREENS } from './fake-screens-data.js';

/** A text that would run as a script if it were not escaped. */
export const HOSTILE = '<script>window.hacked = 1</script>';
export const RIGHT_TO_LEFT = 'مرحبا بالعالم 👩🏽‍💻';

/** The time this many minutes ago. A negative number is in the future. */
export function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * MINUTE_MS).toISOString();
}

/** The permissions that the service gives a role. */
export function permissionsOf(role: string): Me['permissions'] {
  return PERMISSION_NAMES.filter((name) => {
    const { role: least, operator } = permissionOf(name);
    if (isAccountRole(role)) return least !== undefined && isAtLeast(role, least);
    return isOperatorRole(role) && operator !== undefined && isAtLeast(role, operator);
  });
}

/** Who is signed in: a user of an account, or one of the operator. */
export function meOf(role: AccountRole | OperatorRole, changes: Partial<Me> = {}): Me {
  const ofAccount = isAccountRole(role);
  return {
    user: { subject: 'awa@example.test', role },
    key: null,
    account: ofAccount ? { id: 'acc_1', name: 'Pharmacie du Centre', state: 'active', balance: 12_480 } : null,
    operator: isOperatorRole(role) ? role : null,
    permissions: permissionsOf(role),
    standstills: [],
    capabilities: { sms: true, otp: true, msgapp: ['msgapp'], webhooks: true, hooks: true, campaigns: true },
    locale: 'fr',
    home: { country: 'BF', calling_code: '226', national_lengths: [8] },
    ...changes,
  };
}

export function keyOf(id: string, changes: Partial<Key> = {}): Key {
  return {
    id,
    name: 'Shop',
    scopes: ['sms:send', 'messages:read'],
    cidrs: [],
    expires_at: null,
    daily_units: 5000,
    per_minute: null,
    recipients: [],
    confirm_above: null,
    created_at: minutesAgo(60 * 24 * 40),
    last_used_at: minutesAgo(3),
    revoked_at: null,
    spent_today: 1240,
    status: 'active',
    ...changes,
  };
}

export function accountOf(id: string, changes: Partial<ManagedAccount> = {}): ManagedAccount {
  return {
    id,
    name: 'Pharmacie du Centre',
    state: 'active',
    balance: 12_480,
    created_at: minutesAgo(60 * 24 * 90),
    low_balance: 1000,
    ...changes,
  };
}

const list = (items: readonly unknown[]): object => ({ items, next_cursor: null });

/** The session routes. Every link works except `used`. */
export function sessionRoutes(role: AccountRole | OperatorRole, changes: Partial<Me> = {}): FakeRoutes {
  const session = {
    access_token: 'token',
    expires_in: 600,
    user: { subject: 'awa@example.test', account: null, role },
  };
  return {
    'POST session/exchange': ({ body }: { body: { token?: string } }) =>
      body.token === 'used' ? refusal(401, 'unauthorized', 'Ce lien a déjà servi') : session,
    'POST session/refresh': () => refusal(401, 'unauthorized'),
    'POST session/end': { success: true },
    'GET me': meOf(role, changes),
  };
}

/** Answers with data in every list. */
export const FULL: FakeRoutes = {
  ...FULL_SCREENS,
  'GET overview': {
    balance: 12_480,
    oldest_waiting: minutesAgo(2),
    today: { delivered: 1830, sent: 214, undelivered: 31, pending: 12 },
    last_week: { delivered: 1604, sent: 3, undelivered: 44 },
    capped: { today: false, last_week: true },
    attention: [
      { kind: 'balance_low', target: '20000', at: null },
      { kind: 'signature_rejected', target: HOSTILE, at: minutesAgo(60 * 26) },
    ],
  },
  'GET keys': list([
    keyOf('k_4f0c21', { name: 'Boutique en ligne' }),
    keyOf('k_90ab77', { name: HOSTILE, scopes: KEY_SCOPES, daily_units: null, cidrs: ['203.0.113.0/24'] }),
    keyOf('k_1d22aa', {
      name: RIGHT_TO_LEFT,
      status: 'expired',
      expires_at: minutesAgo(90),
      last_used_at: null,
      spent_today: 0,
    }),
  ]),
  'GET signatures': list([
    signatureOf('INFOS', { is_default: true, created_at: null, decided_at: null }),
    signatureOf('PHARMACIE', {}),
    signatureOf('CENTRE', { status: 'pending', decided_at: null }),
    signatureOf('SANTE', { status: 'rejected', reason: HOSTILE }),
    signatureOf('MARCHE', { status: 'rejected', reason: RIGHT_TO_LEFT }),
  ]),
  'GET optouts': list([
    { id: 'o1', number: '22670000101', signature: 'PHARMACIE', source: 'phone', added_at: minutesAgo(12) },
    { id: 'o2', number: '22670000102', signature: RIGHT_TO_LEFT, source: 'operator', added_at: minutesAgo(4000) },
    { id: 'o3', number: '********', signature: 'PHARMACIE', source: 'phone', added_at: minutesAgo(90_000) },
  ]),
  'GET ledger': ledger,
  'GET usage': usage,
  'GET audit': list(audit()),
  'GET manage/audit': list(audit()),
  'GET manage/accounts': list([
    accountOf('acc_1'),
    accountOf('acc_2', { name: HOSTILE, balance: 120 }),
    accountOf('acc_3', { name: RIGHT_TO_LEFT, state: 'suspended', balance: 0 }),
    accountOf('acc_4', { name: 'Radio Savane', state: 'closed', balance: 3, low_balance: null }),
  ]),
  'GET manage/accounts/*': ({ path }) => accountOf(path.slice('manage/accounts/'.length), { balance: 640 }),
  'GET manage/signatures': list([
    { ...signatureOf('CENTRE', { status: 'pending', decided_at: null }), account: 'acc_1' },
    { ...signatureOf('RADIO', { status: 'pending', decided_at: null }), account: 'acc_4' },
  ]),
  'GET manage/ledger/check': {
    id: 'c1',
    state: 'done',
    part: 'recipients',
    checked: 184_220,
    started_at: minutesAgo(31),
    ended_at: minutesAgo(29),
    findings: [`acc_2: the balance is 120, its entries say 125 ${HOSTILE}`],
  },
  'GET manage/system': {
    version: '0.1.0',
    role: 'all',
    node: 'v22.13.0',
    clock_skew_ms: 3.4,
    storage: [
      { text: 'The schema has 10 of 10 versions.', todo: false },
      { text: 'autovacuum has not run on messaging_recipient for 9 days.', todo: true },
    ],
    workers: [
      { name: 'sms', last_round: minutesAgo(0) },
      { name: 'purge', last_round: minutesAgo(48) },
      { name: 'webhooks', last_round: null },
    ],
  },
};

const DAYS = 14;

function dayAgo(days: number): string {
  return minutesAgo(days * 24 * 60).slice(0, 10);
}

function usage({ query }: FakeRequest): object {
  const by = query.get('group_by') ?? 'day';
  const names: Readonly<Record<string, readonly (string | null)[]>> = {
    day: Array.from({ length: DAYS }, (_, index) => dayAgo(DAYS - index)),
    channel: ['sms', 'msgapp', 'otp'],
    country: ['BF', 'SN', 'CI', null],
    signature: ['PHARMACIE', RIGHT_TO_LEFT, HOSTILE],
    key: ['k_4f0c21', 'k_90ab77'],
  };
  const items = (names[by] ?? []).map((name, index) => {
    const sends = 40 + ((index * 37) % 90);
    const units = sends * 3;
    return { [by]: name, units, refunded_units: index, net_units: units - index, sends, recipients: sends * 2 };
  });
  const sum = (field: 'units' | 'refunded_units' | 'net_units' | 'sends' | 'recipients'): number =>
    items.reduce((total, each) => total + Number(each[field]), 0);
  if (query.get('since') === null) return refusal(400, 'invalid_request');
  return {
    items,
    total: {
      units: sum('units'),
      refunded_units: sum('refunded_units'),
      net_units: sum('net_units'),
      sends: sum('sends'),
      recipients: sum('recipients'),
    },
  };
}

/** 120 entries in pages of 50. */
function ledger({ query, headers }: FakeRequest): unknown {
  if (headers.accept === 'text/csv') return 'id,kind,units\r\n1,charge,-3\r\n';
  const start = Number(query.get('cursor') ?? 0);
  const kinds = ['charge', 'charge', 'refund', 'topup', 'adjust'];
  const items = Array.from({ length: 50 }, (_, index) => start + index)
    .filter((index) => index < 120)
    .map((index) => {
      const kind = kinds[index % kinds.length];
      const message = kind === 'charge' || kind === 'refund' ? `msg_${index}` : null;
      return {
        id: `entry-${index}`,
        kind,
        units: kind === 'charge' ? -3 : 3 * (index + 1),
        message_id: message,
        position: null,
        note: kind === 'topup' ? `Facture ${RIGHT_TO_LEFT}` : null,
        at: minutesAgo(index * 17),
      };
    });
  return { items, next_cursor: start + 50 < 120 ? String(start + 50) : null };
}

function signatureOf(name: string, changes: Partial<Signature>): Signature {
  return {
    name,
    status: 'verified',
    reason: null,
    is_default: false,
    created_at: minutesAgo(60 * 50),
    decided_at: minutesAgo(60 * 20),
    ...changes,
  };
}

function audit(): readonly AuditEntry[] {
  const by: AuditEntry['by'] = { kind: 'user', id: 'awa@example.test', address: '203.0.113.7' };
  return [
    {
      id: 'a3',
      at: minutesAgo(2),
      by,
      action: 'key.created',
      target: 'k_4f0c21',
      account: 'acc_1',
      before: null,
      after: { name: HOSTILE, scopes: ['sms:send', 'otp:send'], daily_units: 5000 },
    },
    {
      id: 'a2',
      at: minutesAgo(50),
      by: { kind: 'operator', id: RIGHT_TO_LEFT, address: '2001:db8::7' },
      action: 'account.renamed',
      target: 'acc_1',
      account: 'acc_1',
      before: { name: 'Pharmacie' },
      after: { name: 'Pharmacie du Centre' },
    },
    {
      id: 'a1',
      at: minutesAgo(5000),
      by: { kind: 'host', id: null, address: null },
      action: 'balance.topped_up',
      target: 'facture-7',
      account: 'acc_1',
      before: null,
      after: { units: 5000 },
    },
  ];
}

/** Answers with every list empty, as on the first day. */
export const EMPTY: FakeRoutes = {
  ...EMPTY_SCREENS,
  'GET overview': {
    balance: 0,
    oldest_waiting: null,
    today: {},
    last_week: {},
    capped: { today: false, last_week: false },
    attention: [],
  },
  'GET usage': { items: [], total: { units: 0, refunded_units: 0, net_units: 0, sends: 0, recipients: 0 } },
  'GET manage/ledger/check': {
    id: null,
    state: 'none',
    part: null,
    checked: 0,
    findings: [],
    started_at: null,
    ended_at: null,
  },
  'GET manage/system': {
    version: '0.1.0',
    role: 'all',
    node: 'v22.13.0',
    clock_skew_ms: null,
    storage: [],
    workers: [],
  },
  'GET manage/accounts/*': ({ path }) => accountOf(path.slice('manage/accounts/'.length), { balance: 0 }),
  'GET *': list([]),
  'GET manage/*': list([]),
};
