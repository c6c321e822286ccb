import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import type { Campaign } from '../../../src/campaigns/campaign.js';
import { CampaignStore } from '../../../src/campaigns/campaign-store.js';
import { RecipientStore } from '../../../src/campaigns/recipients/recipient-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { dataSourceFor } from '../../../src/storage/engine/data-source.js';
import { until } from '../common/until.js';
import { CampaignHost } from './campaign-process.js';

const KEY = { id: 'campaign', accountId: 'demo' };
const LEASE_MS = 300;
/** How many recipients a transaction of the import stores. */
const ROWS = 1000;

/** How a campaign is besieged. */
export interface SiegeOrder {
  readonly database: string;
  readonly recipients: number;
  readonly hosts: number;
  readonly kills: number;
  /** How often it is paused and resumed meanwhile. */
  readonly pauses: number;
  readonly slice: number;
  readonly naive?: boolean;
  /** Called after each kill. @param wasRunning whether the campaign had recipients left */
  killed?(wasRunning: boolean): void;
}

/**
 * Runs a campaign on several processes, kills them with `kill -9` at random moments, and pauses and resumes the campaign meanwhile.
 * @returns all faults, as sentences
 */
export async function besiege(order: SiegeOrder): Promise<readonly string[]> {
  const source = await dataSourceFor(order.database);
  await source.initialize();
  const storage = new TypeormStorage({ database: source });
  await storage.start();
  const hosts: CampaignHost[] = [];
  try {
    await prepare(storage, order);
    const { database, slice, naive = false } = order;
    for (let index = 0; index < order.hosts; index++) {
      hosts.push(new CampaignHost({ database, leaseMs: LEASE_MS, slice, naive }));
    }
    await Promise.all(hosts.map((host) => host.start()));
    await Promise.all([killAll(storage, hosts, order), pauseOften(storage, order)]);
    await until(
      () => find(storage),
      // A campaign that has charged somebody twice runs out of units.
      (campaign) => isAccepted(campaign) || campaign.pauseReason === 'insufficient_balance',
      120_000,
    );
    return [...(await faultsOf(source, await find(storage), order)), ...(await booksOf(storage))];
  } finally {
    await Promise.all(hosts.map((host) => host.kill()));
    await storage.stop();
    if (source.isInitialized) await source.destroy();
  }
}

async function prepare(storage: TypeormStorage, { recipients }: SiegeOrder): Promise<void> {
  const at = Date.now();
  await storage.store(AccountStore).createAccount({ id: KEY.accountId, name: 'A', createdAt: at });
  await storage
    .store(LedgerStore)
    .post({ id: 'funds', accountId: KEY.accountId, kind: 'topup', units: recipients, at });
  const campaigns = storage.store(CampaignStore);
  const definition = { name: 'A', signature: 'INFOS', content: 'Bonjour {name}', national: false };
  const none = { sendAt: undefined, perMinute: undefined, metadata: undefined };
  const anytime = { template: undefined, validFor: undefined, window: undefined };
  await campaigns.create({ ...KEY, ...definition, ...none, ...anytime, createdAt: at });
  const list = storage.store(RecipientStore);
  const open = await list.begin(KEY, at);
  if (!open) throw new Error('The campaign is not there.');
  const rows = Array.from({ length: recipients }, (_, index) => {
    const number = String(22_670_000_000 + index);
    return { phone: number, number, vars: { name: `n${index}` } };
  });
  let added = 0;
  for (let from = 0; from < recipients; from += ROWS) added += await list.add(open, rows.slice(from, from + ROWS), at);
  await list.finish(open, added, at);
  await campaigns.change(KEY, { action: 'start', at });
}

async function killAll(
  storage: TypeormStorage,
  hosts: readonly CampaignHost[],
  { kills, slice, killed }: SiegeOrder,
): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    // A process that is killed before it has the campaign shows nothing.
    await advanced(storage, 2 * slice);
    await pause(randomInt(50));
    const host = hosts[kill % hosts.length];
    await host?.kill();
    killed?.(!isAccepted(await find(storage)));
    // The others go on while it starts.
    await host?.start();
  }
}

async function pauseOften(storage: TypeormStorage, { pauses, slice }: SiegeOrder): Promise<void> {
  const campaigns = storage.store(CampaignStore);
  for (let index = 0; index < pauses; index++) {
    await advanced(storage, slice);
    await pause(randomInt(40));
    // The campaign may be complete by then.
    await campaigns.change(KEY, { action: 'pause', at: Date.now() }).catch(() => undefined);
    await pause(randomInt(20));
    await campaigns.change(KEY, { action: 'resume', at: Date.now() }).catch(() => undefined);
  }
}

/** Waits until so many more recipients have become an SMS, or until the campaign is complete. */
async function advanced(storage: TypeormStorage, more: number): Promise<void> {
  const { accepted } = await find(storage);
  await until(
    () => find(storage),
    (campaign) => campaign.accepted >= accepted + more || isAccepted(campaign),
    60_000,
  );
}

/** Whether all recipients are SMS. No worker hands them over, so the campaign is not completed. */
function isAccepted({ accepted, recipients }: Campaign): boolean {
  return accepted >= recipients;
}

async function find(storage: TypeormStorage): Promise<Campaign> {
  const campaign = await storage.store(CampaignStore).find(KEY);
  if (!campaign) throw new Error('The campaign is gone.');
  return campaign;
}

async function faultsOf(source: DataSource, campaign: Campaign, { recipients }: SiegeOrder): Promise<string[]> {
  const numbers: readonly { number: string; n: number | string }[] = await source.query(
    'SELECT number, count(*) AS n FROM messaging_recipient GROUP BY number',
  );
  const [charged] = await source.query(`SELECT sum(-units) AS units FROM messaging_ledger WHERE kind = 'charge'`);
  const [left] = await source.query('SELECT count(*) AS n FROM messaging_campaign_recipient');
  const twice = numbers.filter(({ n }) => Number(n) > 1);
  const faults: string[] = [];
  if (numbers.length !== recipients) faults.push(`${numbers.length} of ${recipients} recipients got an SMS`);
  if (twice.length > 0) faults.push(`${twice.length} recipients got more than one SMS`);
  if (campaign.accepted !== recipients) faults.push(`the campaign counts ${campaign.accepted} recipients`);
  if (campaign.units !== Number(charged.units)) {
    faults.push(`the campaign counts ${campaign.units} units, the ledger ${charged.units}`);
  }
  if (Number(left.n) !== 0) faults.push(`${left.n} recipients are still in the campaign`);
  return faults;
}

async function booksOf(storage: TypeormStorage): Promise<readonly string[]> {
  return (await storage.store(LedgerStore).check()).map((finding) => JSON.stringify(finding));
}
