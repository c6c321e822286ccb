import { recordAudit } from '../accounts/audit/audit.js';
import { type Author, HOST } from '../accounts/audit/audit-entry.js';
import { MessagingError } from '../common/errors.js';
import type { Page, PageRequest } from '../common/listing/page.js';
import { EventRecorder } from '../events/event-recorder.js';
import type { NewEvent } from '../events/event-types.js';
import type { PauseReason } from '../events/events.api.js';
import type { SendKey } from '../outbox/accept/send.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../storage/engine/operation.js';
import { shapeOf } from '../storage/engine/rows.js';
import { bytesWith, type Listing, readPage } from '../storage/read-page.js';
import type { Campaign, CampaignKey, NewCampaign } from './campaign.js';
import { campaignEvents } from './campaign-events.js';
import { CAMPAIGN, LOCKED_CAMPAIGN, toCampaign } from './campaign-rows.js';
import { type CampaignAction, changeOf } from './campaign-states.js';

/** A change of a campaign's state. */
export interface CampaignOrder {
  readonly action: CampaignAction;
  readonly at: number;
  /** Why it pauses. */
  readonly reason?: PauseReason | undefined;
  /** With `start`: the API key of the caller. */
  readonly key?: SendKey | undefined;
  /** Who asks for it; undefined: the campaign's process, whose changes are not in the audit log. */
  readonly by?: Author | undefined;
}

/** A campaign after a change, and the events that the change has caused. */
export interface ChangedCampaign {
  readonly campaign: Campaign;
  readonly events: readonly NewEvent[];
}

/**
 * Persists campaigns as their owners define and steer them. Every method is one transaction unless it says otherwise, and throws
 * `StorageUnavailableError` if the database does not answer.
 */
export class CampaignStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Stores a draft, and an entry of the audit log.
   * @throws MessagingError `error.account_not_found`
   */
  create(campaign: NewCampaign, by: Author = HOST): Promise<Campaign> {
    return this.database.write(() => createCampaign(this.database.dialect, campaign, by));
  }

  find(key: CampaignKey): Promise<Campaign | undefined> {
    return this.database.read(() => findCampaign(key));
  }

  /**
   * Lists the campaigns of an account, newest first.
   * @throws MessagingError `error.invalid_cursor`
   */
  list(accountId: string, page: PageRequest): Promise<Page<Campaign>> {
    const listing: Listing<Campaign> = {
      table: 'messaging_campaign',
      columns: CAMPAIGN,
      bytes: bytesWith('content', 'folded'),
      moment: 'created_at',
      filters: [{ sql: 'account_id = ?', params: [accountId] }],
      toItem: toCampaign,
    };
    return this.database.browse(() => readPage(this.database.dialect, listing, page), accountId);
  }

  /**
   * Changes the state of a campaign, and records the event and an entry of the audit log. A campaign that is already in the wanted
   * state stays as it is.
   *
   * @returns undefined if there is no such campaign
   * @throws MessagingError `error.campaign_state` if its state does not allow the action, `error.campaign_empty` and
   * `error.campaign_importing` for a start
   */
  change(key: CampaignKey, order: CampaignOrder): Promise<ChangedCampaign | undefined> {
    return this.recorder.write(({ publish }) =>
      changeCampaign(this.database.dialect, key, order, (event) => publish(event)),
    );
  }

  /**
   * Removes a draft with its recipients, in several transactions.
   * @returns false if there is no such campaign
   * @throws MessagingError `error.campaign_state` if it is no draft, `error.campaign_importing`
   */
  async remove(key: CampaignKey, at: number, by: Author = HOST): Promise<boolean> {
    const { dialect } = this.database;
    if (!(await this.database.write(() => removeDraft(dialect, key, at, by)))) return false;
    while ((await this.database.writeLazily(() => removeRecipients(key.id, REMOVED_AT_ONCE))) > 0);
    return true;
  }

  /**
   * Removes campaigns that ended before a time, with the recipients that never left them.
   * @returns how many rows were removed. If it is `limit` or more, there may be others
   */
  async purge(before: number, limit: number): Promise<number> {
    const find = () => rowsOf('SELECT id FROM messaging_campaign WHERE ended_at < ? ORDER BY ended_at LIMIT 1', before);
    let removed = 0;
    while (removed < limit) {
      const [row] = await this.database.read(find);
      if (!row) return removed;
      const id = String(row.id);
      const rows = await this.database.writeLazily(() => removeRecipients(id, limit));
      removed += rows === 0 ? await this.database.writeLazily(() => removeEnded(id, limit)) : rows;
    }
    return removed;
  }
}

/** How many rows each transaction of a removal deletes. */
const REMOVED_AT_ONCE = 1000;

/** The columns of a new campaign. */
const NEW = shapeOf(
  'id account_id name signature content template delivery_window metadata status place',
  'send_at per_minute valid_for national batches importing_until recipients accepted units due_at paced_at paced_from folded_to working lease_until epoch created_at updated_at',
);

function* createCampaign(dialect: Dialect, campaign: NewCampaign, by: Author): Operation<Campaign> {
  const { id, accountId, name, signature, content, template, window, metadata, createdAt: at } = campaign;
  const { sendAt, perMinute, validFor, national } = campaign;
  const [account] = yield* rowsOf('SELECT id FROM messaging_account WHERE id = ?', accountId);
  if (!account) throw new MessagingError('error.account_not_found');
  const given = [id, accountId, name, signature, content, template ?? null, jsonOf(window), jsonOf(metadata)];
  const texts = [...given, 'draft', ''];
  // From `batches` to `epoch`.
  const zeros = Array.from({ length: 12 }, () => 0);
  const numbers = [sendAt ?? null, perMinute ?? null, validFor ?? null, national ? 1 : 0, ...zeros, at, at];
  yield dialect.insertRows({ table: 'messaging_campaign', shape: NEW, rows: [[...texts, ...numbers]] });
  yield* recordAudit({ accountId, at, by, action: 'campaign.created', target: id, after: { name, signature } });
  const made = yield* findCampaign(campaign);
  if (!made) throw new Error('The new campaign is not there.');
  return made;
}

function* findCampaign({ id, accountId }: CampaignKey): Operation<Campaign | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${CAMPAIGN} FROM messaging_campaign WHERE id = ? AND account_id = ?`,
    id,
    accountId,
  );
  return row && toCampaign(row);
}

/** Locks a campaign. Undefined if it does not exist, or belongs to another account. */
export function* lockCampaign(
  dialect: Dialect,
  { id, accountId }: { readonly id: string; readonly accountId?: string },
): Operation<Campaign | undefined> {
  const sql = dialect.lockByIds('messaging_campaign', LOCKED_CAMPAIGN, 'wait', 'no key update');
  const [row] = yield* rowsOf(sql, JSON.stringify([id]));
  const campaign = row && toCampaign(row);
  return campaign && (accountId === undefined || campaign.accountId === accountId) ? campaign : undefined;
}

function* changeCampaign(
  dialect: Dialect,
  key: CampaignKey,
  { action, at, reason, by, key: sendKey }: CampaignOrder,
  publish: (event: NewEvent) => void,
): Operation<ChangedCampaign | undefined> {
  const campaign = yield* lockCampaign(dialect, key);
  if (!campaign) return undefined;
  const change = changeOf(action, campaign, at, reason);
  if (change === 'done') return { campaign, events: [] };
  if (change === 'refused') throw new MessagingError('error.campaign_state', { status: campaign.status });
  if (action === 'start') checkStart(campaign, at);
  const isPaced = change.status === 'running';
  yield* write(
    // Whoever looks after the campaign keeps it. The lease comes first, because MariaDB assigns the columns one after the other.
    `UPDATE messaging_campaign SET lease_until = CASE WHEN working = 1 THEN lease_until ELSE 0 END, working = 1, status = ?,
      pause_reason = ?, started_at = ?, ended_at = ?, updated_at = ?, paced_at = ?, paced_from = ?, sender_key = ? WHERE id = ?`,
    change.status,
    change.pauseReason,
    change.startedAt,
    change.endedAt,
    at,
    isPaced ? at : campaign.pacedAt,
    isPaced ? campaign.accepted : campaign.pacedFrom,
    jsonOf(action === 'start' ? sendKey : campaign.key),
    campaign.id,
  );
  const changed = (yield* findCampaign(key)) ?? campaign;
  const events = campaignEvents(action, changed, at);
  for (const event of events) publish(event);
  if (by) {
    const fields = ({ status, pauseReason }: Campaign) => ({ status, pause_reason: pauseReason ?? null });
    yield* recordAudit({
      accountId: key.accountId,
      at,
      by,
      action: `campaign.${AUDITED[action]}`,
      target: key.id,
      before: fields(campaign),
      after: fields(changed),
    });
  }
  return { campaign: changed, events };
}

function jsonOf(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** The actions in the audit log. */
const AUDITED = {
  start: 'started',
  begin: 'started',
  pause: 'paused',
  resume: 'resumed',
  complete: 'completed',
  cancel: 'canceled',
} as const satisfies Record<CampaignAction, string>;

function checkStart({ recipients, importingUntil }: Campaign, at: number): void {
  if (importingUntil > at) throw new MessagingError('error.campaign_importing');
  if (recipients === 0) throw new MessagingError('error.campaign_empty');
}

function* removeDraft(dialect: Dialect, key: CampaignKey, at: number, by: Author): Operation<boolean> {
  const campaign = yield* lockCampaign(dialect, key);
  if (!campaign) return false;
  const { id, accountId, name, status, importingUntil } = campaign;
  if (status !== 'draft') throw new MessagingError('error.campaign_state', { status });
  if (importingUntil > at) throw new MessagingError('error.campaign_importing');
  yield* write('DELETE FROM messaging_campaign WHERE id = ?', id);
  yield* recordAudit({ accountId, at, by, action: 'campaign.removed', target: id, before: { name } });
  return true;
}

/** Removes the first recipients of a campaign. */
function removeRecipients(id: string, limit: number): Operation<number> {
  return write(
    `DELETE FROM messaging_campaign_recipient WHERE campaign_id = ? AND phone <= (SELECT max(phone) FROM (
      SELECT r.phone FROM messaging_campaign_recipient r WHERE r.campaign_id = ? ORDER BY r.phone LIMIT ?) first)`,
    id,
    id,
    limit,
  );
}

/** Removes the first slices of a campaign, and the campaign when none is left. */
function* removeEnded(id: string, limit: number): Operation<number> {
  const slices = yield* write(
    `DELETE FROM messaging_campaign_slice WHERE campaign_id = ? AND first <= (SELECT max(first) FROM (
      SELECT s.first FROM messaging_campaign_slice s WHERE s.campaign_id = ? ORDER BY s.first LIMIT ?) firsts)`,
    id,
    id,
    limit,
  );
  return slices > 0 ? slices : yield* write('DELETE FROM messaging_campaign WHERE id = ?', id);
}
