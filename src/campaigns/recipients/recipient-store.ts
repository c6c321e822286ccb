import { recordAudit } from '../../accounts/audit/audit.js';
import { type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { MessagingError } from '../../common/errors.js';
import { MINUTE_MS } from '../../common/time.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import type { Campaign, CampaignKey, PendingRecipient } from '../campaign.js';
import { toPending } from '../campaign-rows.js';
import { lockCampaign } from '../campaign-store.js';

/** How long an import that stores no rows keeps others away, in milliseconds. */
export const IMPORT_LEASE_MS = 2 * MINUTE_MS;

/** An import that is running. */
export interface OpenImport extends CampaignKey {
  /** The number of the import. */
  readonly batch: number;
  /** Counts the imports of the campaign, so that one that was taken for dead stores nothing more. */
  readonly epoch: number;
  readonly campaign: Campaign;
}

/**
 * Persists the recipients that wait in campaigns. An import stores its rows in many transactions, under a number that makes them
 * invisible. Its last transaction makes all of them visible at once. So a crash or a refusal imports nothing.
 */
export class RecipientStore {
  constructor(private readonly database: Database) {}

  /**
   * Begins an import. Rows that an unfinished import has left are removed first.
   * @returns undefined if there is no such campaign
   * @throws MessagingError `error.campaign_state` if it is no draft, `error.campaign_importing`
   */
  async begin(key: CampaignKey, now: number): Promise<OpenImport | undefined> {
    const { dialect } = this.database;
    const begun = await this.database.write(() => beginImport(dialect, key, now));
    if (begun && begun.campaign.importingUntil > 0) await this.removeUnfinished(begun);
    return begun;
  }

  /**
   * Stores rows of an import, except those whose phone the campaign already has.
   * @param rows each phone at most once
   * @returns how many were stored
   * @throws MessagingError `error.campaign_importing` if the import was taken for dead
   */
  add(open: OpenImport, rows: readonly PendingRecipient[], now: number): Promise<number> {
    return this.database.writeLazily(() => addRows(this.database.dialect, open, rows, now));
  }

  /**
   * Makes the rows of an import visible, and records it in the audit log.
   * @throws MessagingError `error.campaign_importing` if the import was taken for dead
   */
  finish(open: OpenImport, imported: number, now: number, by: Author = HOST): Promise<void> {
    return this.database.write(() => finishImport(this.database.dialect, open, imported, now, by));
  }

  /** Ends an import whose rows are not wanted. The next import removes them. */
  async abandon({ id, epoch }: OpenImport): Promise<void> {
    const sql = `UPDATE messaging_campaign SET importing_until = 1 WHERE id = ? AND epoch = ? AND status = 'draft'`;
    await this.database.write(() => write(sql, id, epoch));
  }

  /** The next recipients of a campaign after a phone, in the order of their phones. */
  pending({ id, batches }: Campaign, after: string, limit: number): Promise<readonly PendingRecipient[]> {
    return this.database.read(() => readPending(id, batches, after, limit));
  }

  /** Removes a phone from all campaigns of some accounts that it has not left. Returns how many rows were removed. */
  erase(phone: string, accountIds: readonly string[]): Promise<number> {
    return this.database.write(() => erasePhone(this.database.dialect, phone, accountIds));
  }

  private async removeUnfinished({ id, campaign }: OpenImport): Promise<void> {
    let after: string | undefined = '';
    while (after !== undefined) {
      const from: string = after;
      after = await this.database.writeLazily(() => removeAfter(id, campaign.batches, from));
    }
  }
}

function* beginImport(dialect: Dialect, key: CampaignKey, now: number): Operation<OpenImport | undefined> {
  const campaign = yield* lockCampaign(dialect, key);
  if (!campaign) return undefined;
  const { id, status, importingUntil, batches, epoch } = campaign;
  if (status !== 'draft') throw new MessagingError('error.campaign_state', { status });
  if (importingUntil > now) throw new MessagingError('error.campaign_importing');
  yield* write(
    'UPDATE messaging_campaign SET importing_until = ?, epoch = ? WHERE id = ?',
    now + IMPORT_LEASE_MS,
    epoch + 1,
    id,
  );
  return { ...key, batch: batches + 1, epoch: epoch + 1, campaign };
}

/** Locks the campaign of an import, and extends the import's lease. */
function* keepLease(dialect: Dialect, open: OpenImport, until: number): Operation<Campaign> {
  const campaign = yield* lockCampaign(dialect, open);
  const isOurs = campaign?.status === 'draft' && campaign.epoch === open.epoch;
  if (!isOurs) throw new MessagingError('error.campaign_importing');
  yield* write('UPDATE messaging_campaign SET importing_until = ? WHERE id = ?', until, open.id);
  return campaign;
}

const ROWS = { campaign_id: 'id', phone: 'id', number: 'id', vars: 'text', batch: 'integer' } as const;

function* addRows(
  dialect: Dialect,
  open: OpenImport,
  rows: readonly PendingRecipient[],
  now: number,
): Operation<number> {
  yield* keepLease(dialect, open, now + IMPORT_LEASE_MS);
  const found = yield* rowsOf(
    `SELECT phone FROM messaging_campaign_recipient WHERE campaign_id = ? AND phone ${dialect.among()}`,
    open.id,
    JSON.stringify(rows.map(({ phone }) => phone)),
  );
  const known = new Set(found.map((row) => textOf(row, 'phone')));
  const added = rows.filter(({ phone }) => !known.has(phone));
  if (added.length > 0) {
    yield dialect.insertRows({
      table: 'messaging_campaign_recipient',
      shape: ROWS,
      rows: added.map(({ phone, number, vars }) => [
        open.id,
        phone,
        number,
        vars === undefined ? null : JSON.stringify(vars),
        open.batch,
      ]),
    });
  }
  return added.length;
}

function* finishImport(dialect: Dialect, open: OpenImport, imported: number, at: number, by: Author): Operation<void> {
  const { recipients } = yield* keepLease(dialect, open, 0);
  yield* write(
    'UPDATE messaging_campaign SET batches = ?, recipients = ?, updated_at = ? WHERE id = ?',
    open.batch,
    recipients + imported,
    at,
    open.id,
  );
  const { id, accountId } = open;
  const after = { recipients: recipients + imported };
  yield* recordAudit({ accountId, at, by, action: 'campaign.imported', target: id, before: { recipients }, after });
}

function* readPending(
  id: string,
  batches: number,
  after: string,
  limit: number,
): Operation<readonly PendingRecipient[]> {
  const rows = yield* rowsOf(
    `SELECT phone, number, vars FROM messaging_campaign_recipient
      WHERE campaign_id = ? AND phone > ? AND batch <= ? ORDER BY phone LIMIT ?`,
    id,
    after,
    batches,
    limit,
  );
  return rows.map(toPending);
}

/** How many rows one step of the removal of an unfinished import reads. */
const STEP = 2000;

/** Removes the rows of unfinished imports among the next rows. Returns the phone of the last row; undefined at the end. */
function* removeAfter(id: string, batches: number, after: string): Operation<string | undefined> {
  const rows = yield* rowsOf(
    'SELECT phone, batch FROM messaging_campaign_recipient WHERE campaign_id = ? AND phone > ? ORDER BY phone LIMIT ?',
    id,
    after,
    STEP,
  );
  const last = rows.at(-1);
  if (!last) return undefined;
  if (rows.some((row) => integerOf(row, 'batch') > batches)) {
    yield* write(
      'DELETE FROM messaging_campaign_recipient WHERE campaign_id = ? AND phone > ? AND phone <= ? AND batch > ?',
      id,
      after,
      textOf(last, 'phone'),
      batches,
    );
  }
  return rows.length < STEP ? undefined : textOf(last, 'phone');
}

/** See `RecipientStore.erase`. The number of recipients of a campaign changes together with its rows. */
function* erasePhone(dialect: Dialect, phone: string, accountIds: readonly string[]): Operation<number> {
  const rows = yield* rowsOf(
    `SELECT c.id FROM messaging_campaign c ${dialect.thenJoin} messaging_campaign_recipient r
      ON ${dialect.lookUp('r.campaign_id = c.id')} AND r.phone = ? AND r.batch <= c.batches
      WHERE c.account_id ${dialect.among()} ORDER BY c.id`,
    phone,
    JSON.stringify(accountIds),
  );
  let erased = 0;
  for (const row of rows) {
    const id = textOf(row, 'id');
    const campaign = yield* lockCampaign(dialect, { id });
    if (!campaign) continue;
    const sql = 'DELETE FROM messaging_campaign_recipient WHERE campaign_id = ? AND phone = ?';
    const removed = yield* write(sql, id, phone);
    if (removed === 0) continue;
    erased += removed;
    yield* write('UPDATE messaging_campaign SET recipients = recipients - 1 WHERE id = ?', id);
  }
  return erased;
}
