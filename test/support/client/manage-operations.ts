import type { KeyOrder } from '../../../src/client/manage/account-types.js';
import type { ManagementClient } from '../../../src/client/manage/management-client.js';
import { opened } from './operations.js';

/** A method of the management client: its name, and a call of it with every possible argument. */
export interface ManageMethod {
  readonly method: string;
  readonly call: (client: ManagementClient) => Promise<unknown>;
}

const PERIOD = { since: '2026-11-21', until: '2026-11-22' };
const KEY: KeyOrder = {
  name: 'shop',
  scopes: ['sms:send'],
  cidrs: ['192.0.2.0/24'],
  expires_at: '2027-01-01T00:00:00Z',
  daily_units: 1000,
  per_minute: 60,
  recipients: ['22670000001'],
  confirm_above: 5,
} as const;
const POSTING = { units: 5, reference: 'invoice-1', note: 'five' };

/** The management client's method for each operation of the API for people, by the operation's id. */
export const MANAGE_METHODS: Readonly<Record<string, ManageMethod>> = {
  exchangeSession: {
    method: 'session.exchange',
    call: ({ session }) => session.exchange({ token: 'secret', credentials: { code: 'one' } }),
  },
  refreshSession: { method: 'session.refresh', call: ({ session }) => session.refresh() },
  endSession: { method: 'session.end', call: ({ session }) => session.end() },
  getMe: { method: 'account.me', call: ({ account }) => account.me() },
  getOverview: { method: 'account.overview', call: ({ account }) => account.overview() },
  getCodes: { method: 'account.codes', call: ({ account }) => account.codes(PERIOD) },
  getUsage: {
    method: 'account.usage',
    call: ({ account }) => account.usage({ ...PERIOD, group_by: ['day', 'channel'] }),
  },
  listLedger: {
    method: 'account.ledger',
    call: ({ account }) => account.ledger({ ...PERIOD, kind: 'charge', limit: 1 }).page('next'),
  },
  listAudit: {
    method: 'account.audit',
    call: ({ account }) => account.audit({ ...PERIOD, action: 'key.created', limit: 1 }).page('next'),
  },
  listKeys: { method: 'account.keys', call: ({ account }) => account.keys({ limit: 1 }).page('next') },
  createKey: { method: 'account.createKey', call: ({ account }) => account.createKey(KEY) },
  rotateKey: { method: 'account.rotateKey', call: ({ account }) => account.rotateKey('one', { grace_hours: 1 }) },
  revokeKey: { method: 'account.revokeKey', call: ({ account }) => account.revokeKey('one') },
  listSignatures: {
    method: 'account.signatures',
    call: ({ account }) => account.signatures({ limit: 1 }).page('next'),
  },
  registerSignature: {
    method: 'account.registerSignature',
    call: ({ account }) => account.registerSignature('MY SHOP'),
  },
  removeSignature: { method: 'account.removeSignature', call: ({ account }) => account.removeSignature('MY SHOP') },
  listOptOuts: {
    method: 'account.optOuts',
    call: ({ account }) => account.optOuts({ signature: 'INFOS', number: '22670000000', limit: 1 }).page('next'),
  },
  addOptOuts: {
    method: 'account.addOptOuts',
    call: ({ account }) => account.addOptOuts({ signature: 'INFOS', numbers: ['22670000000'] }),
  },
  removeOptOut: { method: 'account.removeOptOut', call: ({ account }) => account.removeOptOut('one') },
  listManagedAccounts: {
    method: 'operator.accounts',
    call: ({ operator }) => operator.accounts({ query: 'sh', state: 'active', limit: 1 }).page('next'),
  },
  createManagedAccount: {
    method: 'operator.createAccount',
    call: ({ operator }) => operator.createAccount({ id: 'shop', name: 'Shop' }),
  },
  getManagedAccount: { method: 'operator.account', call: ({ operator }) => operator.account('shop') },
  changeManagedAccount: {
    method: 'operator.changeAccount',
    call: ({ operator }) => operator.changeAccount('shop', { name: 'Shop', low_balance: 5 }),
  },
  suspendAccount: { method: 'operator.suspendAccount', call: ({ operator }) => operator.suspendAccount('shop') },
  resumeAccount: { method: 'operator.resumeAccount', call: ({ operator }) => operator.resumeAccount('shop') },
  closeAccount: { method: 'operator.closeAccount', call: ({ operator }) => operator.closeAccount('shop') },
  topUpAccount: { method: 'operator.topUp', call: ({ operator }) => operator.topUp('shop', POSTING) },
  adjustAccount: { method: 'operator.adjust', call: ({ operator }) => operator.adjust('shop', POSTING) },
  createLink: {
    method: 'operator.link',
    call: ({ operator }) => operator.link({ account: 'shop', role: 'viewer', subject: 'awa', minutes: 5 }),
  },
  listManagedSignatures: {
    method: 'operator.signatures',
    call: ({ operator }) => operator.signatures({ status: 'pending', limit: 1 }).page('next'),
  },
  verifySignature: {
    method: 'operator.verifySignature',
    call: ({ operator }) => operator.verifySignature('shop', 'MY SHOP'),
  },
  rejectSignature: {
    method: 'operator.rejectSignature',
    call: ({ operator }) => operator.rejectSignature('shop', 'MY SHOP', { reason: 'no' }),
  },
  readQueues: { method: 'operator.queues', call: ({ operator }) => operator.queues() },
  pauseQueue: {
    method: 'operator.pause',
    call: ({ operator }) => operator.pause({ channel: 'sms', account: 'shop' }),
  },
  resumeQueue: {
    method: 'operator.resume',
    call: ({ operator }) => operator.resume({ channel: 'sms', account: 'shop' }),
  },
  readCarriers: { method: 'operator.carriers', call: ({ operator }) => operator.carriers() },
  restCarrier: { method: 'operator.restCarrier', call: ({ operator }) => operator.restCarrier('backup') },
  resumeCarrier: { method: 'operator.resumeCarrier', call: ({ operator }) => operator.resumeCarrier('backup') },
  startLedgerCheck: { method: 'operator.checkLedger', call: ({ operator }) => operator.checkLedger() },
  getLedgerCheck: { method: 'operator.ledgerCheck', call: ({ operator }) => operator.ledgerCheck() },
  streamLedgerCheck: {
    method: 'operator.watchLedgerCheck',
    call: ({ operator }) => opened((signal) => operator.watchLedgerCheck({ signal })),
  },
  listManagedSessions: {
    method: 'operator.sessions',
    call: ({ operator }) => operator.sessions({ account: 'shop', status: 'connected', limit: 1 }).page('next'),
  },
  unlinkManagedSession: { method: 'operator.unlink', call: ({ operator }) => operator.unlink('one') },
  readSystem: { method: 'operator.system', call: ({ operator }) => operator.system() },
  listOptOutsForAll: {
    method: 'operator.optOuts',
    call: ({ operator }) => operator.optOuts({ signature: 'INFOS', number: '22670000000', limit: 1 }).page('next'),
  },
  addOptOutsForAll: {
    method: 'operator.addOptOuts',
    call: ({ operator }) => operator.addOptOuts({ signature: 'INFOS', numbers: ['22670000000'] }),
  },
  removeOptOutForAll: { method: 'operator.removeOptOut', call: ({ operator }) => operator.removeOptOut('one') },
  listManagedAudit: {
    method: 'operator.audit',
    call: ({ operator }) =>
      operator.audit({ ...PERIOD, account: 'shop', action: 'key.created', limit: 1 }).page('next'),
  },
};

/** The methods for the same operations that answer with a CSV file. */
export const CSV_METHODS: Readonly<Record<string, ManageMethod>> = {
  getUsage: {
    method: 'account.usageCsv',
    call: ({ account }) => account.usageCsv({ ...PERIOD, group_by: ['day', 'channel'] }),
  },
  listLedger: {
    method: 'account.ledgerCsv',
    call: ({ account }) => account.ledgerCsv({ ...PERIOD, kind: 'charge' }),
  },
};
