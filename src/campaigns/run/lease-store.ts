import { databaseTime } from '../../storage/database-time.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import type { Campaign } from '../campaign.js';
import { CAMPAIGN, toCampaign } from '../campaign-rows.js';

/** A campaign that a process looks after. The epoch changes whenever a process takes it. */
export interface CampaignLease {
  readonly id: string;
  readonly epoch: number;
}

/** The process that takes campaigns, and for how long. */
export interface LeaseOrder {
  readonly owner: string;
  readonly now: number;
  readonly leaseMs: number;
}

/**
 * Persists which process looks after which campaign. One process at a time does, under a lease by the database's clock. Every slice
 * checks the epoch in its own transaction, so a process that was taken for dead accepts nothing more.
 */
export class LeaseStore {
  constructor(private readonly database: Database) {}

  /** Takes at most `limit` campaigns that no process looks after. */
  take(order: LeaseOrder, limit: number): Promise<readonly CampaignLease[]> {
    return this.database.write(() => takeCampaigns(this.database.dialect, order, limit));
  }

  /** Extends leases. Returns those that are still held. */
  renew(leases: readonly CampaignLease[], order: LeaseOrder): Promise<readonly CampaignLease[]> {
    return this.database.writeLazily(() => renewLeases(this.database.dialect, leases, order));
  }

  /** Gives leases back, so that another process can take them at once. */
  async release(leases: readonly CampaignLease[], owner: string): Promise<void> {
    await this.database.write(function* () {
      for (const { id, epoch } of leases) {
        const sql =
          'UPDATE messaging_campaign SET owner = NULL, lease_until = 0 WHERE id = ? AND owner = ? AND epoch = ?';
        yield* write(sql, id, owner, epoch);
      }
    });
  }

  /** A campaign with the time of the database; undefined if another process has taken it, or if it was removed. */
  load(
    { id, epoch }: CampaignLease,
    given: number,
  ): Promise<{ readonly campaign: Campaign; readonly now: number } | undefined> {
    const { dialect } = this.database;
    return this.database.read(function* () {
      const now = yield* databaseTime(dialect, given);
      const [row] = yield* rowsOf(`SELECT ${CAMPAIGN} FROM messaging_campaign WHERE id = ? AND epoch = ?`, id, epoch);
      return row && { campaign: toCampaign(row), now };
    });
  }

  /** Nobody has to look after a campaign any more, unless it has changed since it was read. */
  async rest({ id, epoch, status, accepted }: Campaign): Promise<void> {
    const sql = `UPDATE messaging_campaign SET working = 0, owner = NULL, lease_until = 0
      WHERE id = ? AND epoch = ? AND status = ? AND accepted = ?`;
    await this.database.write(() => write(sql, id, epoch, status, accepted));
  }

  /** Accepts no SMS of the campaign before `until`. */
  async hold({ id, epoch }: Campaign, until: number): Promise<void> {
    const sql = 'UPDATE messaging_campaign SET due_at = ? WHERE id = ? AND epoch = ?';
    await this.database.write(() => write(sql, until, id, epoch));
  }
}

function* takeCampaigns(
  dialect: Dialect,
  { owner, now: given, leaseMs }: LeaseOrder,
  limit: number,
): Operation<readonly CampaignLease[]> {
  const now = yield* databaseTime(dialect, given);
  const free = yield* rowsOf(
    'SELECT id FROM messaging_campaign WHERE working = 1 AND lease_until <= ? ORDER BY lease_until LIMIT ?',
    now,
    limit,
  );
  if (free.length === 0) return [];
  const held = yield* rowsOf(
    dialect.lockByIds('messaging_campaign', 'a.id, a.epoch, a.working, a.lease_until', 'skip', 'no key update'),
    JSON.stringify(free.map((row) => textOf(row, 'id'))),
  );
  const taken = held.filter((row) => integerOf(row, 'working') === 1 && integerOf(row, 'lease_until') <= now);
  for (const row of taken) {
    const sql = 'UPDATE messaging_campaign SET owner = ?, lease_until = ?, epoch = epoch + 1 WHERE id = ?';
    yield* write(sql, owner, now + leaseMs, textOf(row, 'id'));
  }
  return taken.map((row) => ({ id: textOf(row, 'id'), epoch: integerOf(row, 'epoch') + 1 }));
}

function* renewLeases(
  dialect: Dialect,
  leases: readonly CampaignLease[],
  { owner, now: given, leaseMs }: LeaseOrder,
): Operation<readonly CampaignLease[]> {
  const now = yield* databaseTime(dialect, given);
  const epochs = new Map(leases.map(({ id, epoch }) => [id, epoch]));
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_campaign', 'a.id, a.owner, a.epoch', 'wait', 'no key update'),
    JSON.stringify([...epochs.keys()]),
  );
  const ours = rows.filter((row) => row.owner === owner && integerOf(row, 'epoch') === epochs.get(textOf(row, 'id')));
  const ids = ours.map((row) => textOf(row, 'id'));
  if (ids.length > 0) {
    const sql = `UPDATE messaging_campaign SET lease_until = ? WHERE id ${dialect.among()}`;
    yield* write(sql, now + leaseMs, JSON.stringify(ids));
  }
  return leases.filter(({ id }) => ids.includes(id));
}
