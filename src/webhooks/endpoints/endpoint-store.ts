import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type AuditAction } from '../../accounts/audit/audit.api.js';
import { recordAudit } from '../../accounts/audit/audit.js';
import { type AuditFields, type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { findReply, keepReply } from '../../accounts/replies.js';
import { MessagingError } from '../../common/errors.js';
import type { StoredReply } from '../../common/idempotency-key.js';
import type { Page, PageRequest } from '../../common/listing/page.js';
import { switchOn } from '../../events/event-log.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import type { Acceptance } from '../../outbox/outbox.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, shapeOf } from '../../storage/engine/rows.js';
import { type Listing, readPage } from '../../storage/read-page.js';
import { readAttempts } from '../calls/attempt-runs.js';
import type { Endpoint, EndpointAttempt, EndpointDefinition, NewEndpoint, SecretVersion } from './endpoint.js';
import { AttemptQuery, EndpointAnswer, EndpointKey, MAX_ENDPOINTS } from './endpoint-records.js';
import { ENDPOINT, toEndpoint } from './endpoint-rows.js';

/**
 * Persists endpoints as their owners define them. The `CallStore` persists the progress of calls. Every method is one transaction
 * unless it says otherwise, and throws `StorageUnavailableError` if the database does not answer. The transaction of a change
 * also writes it to the audit log. `by` names who makes the change, by default the host.
 */
export class EndpointStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores an endpoint and switches the account's log on, in one transaction. The endpoint's cursor is the last sequence number
   * before that, so the endpoint receives every event that is committed later. A repeat under the same Idempotency-Key gets the
   * first reply.
   *
   * @throws MessagingError `error.too_many_endpoints` for more than {@link MAX_ENDPOINTS}, which a lock decides.
   * `error.account_not_found`, `error.idempotency_mismatch`
   */
  create(endpoint: NewEndpoint, answer: EndpointAnswer, by: Author = HOST): Promise<Acceptance> {
    return this.database.write(() => createEndpoint(this.database.dialect, endpoint, answer, by));
  }

  find(key: EndpointKey): Promise<Endpoint | undefined> {
    return this.database.read(() => findEndpoint(key));
  }

  /**
   * Lists the endpoints of an account, newest first.
   * @throws MessagingError `error.invalid_cursor`
   */
  list(accountId: string, page: PageRequest): Promise<Page<Endpoint>> {
    const listing: Listing<Endpoint> = {
      table: 'messaging_endpoint',
      columns: ENDPOINT,
      bytes: undefined,
      moment: 'created_at',
      filters: [{ sql: 'account_id = ?', params: [accountId] }],
      toItem: toEndpoint,
    };
    return this.database.browse(() => readPage(this.database.dialect, listing, page), accountId);
  }

  /** Lists endpoints of all accounts with exactly this URL. The sandbox uses it. */
  async withUrl(url: string): Promise<readonly Endpoint[]> {
    const from = `messaging_endpoint e${this.database.dialect.by('messaging_endpoint_url')}`;
    const sql = `SELECT ${ENDPOINT} FROM ${from} WHERE url = ?`;
    const rows = await this.database.browse(() => rowsOf(sql, url), undefined);
    return rows.map(toEndpoint);
  }

  /** Replaces the definition by the result of `change`, under a lock. Returns undefined if there is no such endpoint. */
  update(
    key: EndpointKey,
    change: (definition: EndpointDefinition) => EndpointDefinition,
    at: number,
    by: Author = HOST,
  ): Promise<Endpoint | undefined> {
    return this.database.write(() => updateEndpoint(this.database.dialect, key, change, at, by));
  }

  /**
   * Replaces the versions of the secret by the result of `change`, under a lock. A repeat under the same Idempotency-Key gets the
   * first reply. Returns undefined if there is no such endpoint.
   *
   * @throws MessagingError `error.idempotency_mismatch`
   */
  rotate(
    key: EndpointKey,
    change: (versions: readonly SecretVersion[]) => readonly SecretVersion[],
    at: number,
    answer: EndpointAnswer,
    by: Author = HOST,
  ): Promise<Acceptance | undefined> {
    return this.database.write(() => rotateSecret(this.database.dialect, key, change, at, answer, by));
  }

  /**
   * Enables an endpoint, whatever has disabled it. It is called from its cursor on. Returns undefined if there is no such
   * endpoint.
   */
  enable(key: EndpointKey, at: number, by: Author = HOST): Promise<Endpoint | undefined> {
    return this.database.write(() => enableEndpoint(this.database.dialect, key, at, by));
  }

  /**
   * Disables an endpoint with the reason `requested`. If it is already disabled, it keeps its reason. Returns undefined if there
   * is no such endpoint.
   */
  disable(key: EndpointKey, at: number, by: Author = HOST): Promise<Endpoint | undefined> {
    return this.database.write(() => disableEndpoint(this.database.dialect, key, at, by));
  }

  /**
   * Removes an endpoint with its pending calls, in several transactions. The endpoint counts as a use of the account's log until
   * `at`. Returns false if there is no such endpoint.
   */
  async remove(key: EndpointKey, at: number, by: Author = HOST): Promise<boolean> {
    if (!(await this.find(key))) return false;
    // The process that calls the endpoint may add pending calls meanwhile. The last step removes them too.
    while ((await this.database.write(() => removeRetries(key.id))) > 0);
    return this.database.write(() => removeEndpoint(this.database.dialect, key, at, by));
  }

  /**
   * Lists the calls of an endpoint in the last 7 days, newest first.
   * @throws MessagingError `error.invalid_cursor`
   */
  attempts(query: AttemptQuery): Promise<Page<EndpointAttempt>> {
    return this.database.browse(() => readAttempts(this.database.dialect, query), query.accountId);
  }

  /**
   * Keeps a reply under an Idempotency-Key if none is kept yet. Otherwise returns the kept reply.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  async keep(once: IdempotencyKey, reply: object, now: number): Promise<Acceptance> {
    const earlier = await this.database.write(() => keepReply(this.database.dialect, once, reply, now));
    return earlier ? replayOf(earlier, once) : { reply, replayed: false };
  }
}

/** The columns of a new endpoint. */
const NEW = shapeOf(
  'id account_id url types ordering signature versions description status',
  'batch_max wait_ms cursor_at lease_until epoch created_at updated_at',
);

/** See `EndpointStore.create`. The lock on the account's counter also decides on the number of endpoints and on repeats. */
function* createEndpoint(
  dialect: Dialect,
  endpoint: NewEndpoint,
  answer: EndpointAnswer,
  by: Author,
): Operation<Acceptance> {
  const { id, accountId, createdAt: at } = endpoint;
  const [account] = yield* rowsOf('SELECT id FROM messaging_account WHERE id = ?', accountId);
  if (!account) throw new MessagingError('error.account_not_found');
  const { last } = yield* switchOn(dialect, accountId, at);
  const earlier = answer.once && (yield* findReply(answer.once, at));
  if (earlier && answer.once) return replayOf(earlier, answer.once);
  const [count] = yield* rowsOf('SELECT count(*) AS count FROM messaging_endpoint WHERE account_id = ?', accountId);
  if (count && integerOf(count, 'count') >= MAX_ENDPOINTS) {
    throw new MessagingError('error.too_many_endpoints', { max: MAX_ENDPOINTS });
  }
  const { url, types, ordering, batch, signature, versions, description } = endpoint;
  const texts = [id, accountId, url, types && JSON.stringify(types), ordering, signature, JSON.stringify(versions)];
  const row = [...texts, description, 'enabled', batch.max, batch.waitMs, last, 0, 0, at, at];
  yield dialect.insertRows({ table: 'messaging_endpoint', shape: NEW, rows: [row] });
  yield* recordAudit({ accountId, at, by, action: 'webhook.created', target: id, after: definitionOf(endpoint) });
  const made: Endpoint = {
    ...endpoint,
    status: 'enabled',
    reason: null,
    cursor: last,
    failingSince: null,
    restsUntil: null,
    updatedAt: at,
  };
  return yield* answered(dialect, made, answer, at);
}

/** Keeps the reply to a change. The caller must have looked for an earlier reply under a lock. */
function* answered(dialect: Dialect, endpoint: Endpoint, answer: EndpointAnswer, now: number): Operation<Acceptance> {
  const reply = answer.replyOf(endpoint);
  if (answer.once) yield* keepReply(dialect, answer.once, reply, now);
  return { reply, replayed: false };
}

function replayOf({ fingerprint, reply }: StoredReply, once: IdempotencyKey): Acceptance {
  if (fingerprint !== once.fingerprint) throw new MessagingError('error.idempotency_mismatch');
  return { reply, replayed: true };
}

function* findEndpoint({ id, accountId }: EndpointKey): Operation<Endpoint | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${ENDPOINT} FROM messaging_endpoint WHERE id = ? AND account_id = ?`,
    id,
    accountId,
  );
  return row && toEndpoint(row);
}

function* lockEndpoint(dialect: Dialect, key: EndpointKey): Operation<Endpoint | undefined> {
  const columns = ENDPOINT.split(', ').map((column) => `a.${column}`);
  const sql = dialect.lockByIds('messaging_endpoint', columns.join(', '), 'wait', 'no key update');
  const [row] = yield* rowsOf(sql, JSON.stringify([key.id]));
  const endpoint = row && toEndpoint(row);
  return endpoint?.accountId === key.accountId ? endpoint : undefined;
}

/** See `EndpointStore.update`. The remembered previous number is cleared, because it depends on the endpoint's types. */
function* updateEndpoint(
  dialect: Dialect,
  key: EndpointKey,
  change: (definition: EndpointDefinition) => EndpointDefinition,
  at: number,
  by: Author,
): Operation<Endpoint | undefined> {
  const endpoint = yield* lockEndpoint(dialect, key);
  if (!endpoint) return undefined;
  const definition = change(endpoint);
  if (isSameDefinition(endpoint, definition)) return endpoint;
  const { url, types, ordering, batch, description } = definition;
  yield* write(
    `UPDATE messaging_endpoint SET url = ?, types = ?, ordering = ?, batch_max = ?, wait_ms = ?, description = ?,
      updated_at = ? WHERE id = ? AND account_id = ?`,
    url,
    types && JSON.stringify(types),
    ordering,
    batch.max,
    batch.waitMs,
    description,
    at,
    key.id,
    key.accountId,
  );
  yield* recordChange({ ...key, at, by }, 'webhook.changed', definitionOf(endpoint), definitionOf(definition));
  return yield* findEndpoint(key);
}

/** See `EndpointStore.rotate`. */
function* rotateSecret(
  dialect: Dialect,
  key: EndpointKey,
  change: (versions: readonly SecretVersion[]) => readonly SecretVersion[],
  at: number,
  answer: EndpointAnswer,
  by: Author,
): Operation<Acceptance | undefined> {
  const endpoint = yield* lockEndpoint(dialect, key);
  if (!endpoint) return undefined;
  const earlier = answer.once && (yield* findReply(answer.once, at));
  if (earlier && answer.once) return replayOf(earlier, answer.once);
  const versions = change(endpoint.versions);
  yield* write(
    'UPDATE messaging_endpoint SET versions = ?, updated_at = ? WHERE id = ?',
    JSON.stringify(versions),
    at,
    key.id,
  );
  const newest = (of: readonly SecretVersion[]): AuditFields => ({ version: of[0]?.number ?? 0 });
  yield* recordChange({ ...key, at, by }, 'webhook.secret_rotated', newest(endpoint.versions), newest(versions));
  return yield* answered(dialect, { ...endpoint, versions, updatedAt: at }, answer, at);
}

function* enableEndpoint(dialect: Dialect, key: EndpointKey, at: number, by: Author): Operation<Endpoint | undefined> {
  const endpoint = yield* lockEndpoint(dialect, key);
  if (endpoint?.status !== 'disabled') return endpoint;
  yield* write(
    `UPDATE messaging_endpoint SET status = 'enabled', reason = NULL, failing_since = NULL, rests_until = NULL, updated_at = ?
      WHERE id = ?`,
    at,
    key.id,
  );
  yield* recordChange({ ...key, at, by }, 'webhook.enabled', stateOf(endpoint), stateOf(ENABLED));
  return yield* findEndpoint(key);
}

function* disableEndpoint(dialect: Dialect, key: EndpointKey, at: number, by: Author): Operation<Endpoint | undefined> {
  const endpoint = yield* lockEndpoint(dialect, key);
  if (endpoint?.status !== 'enabled') return endpoint;
  yield* write(
    `UPDATE messaging_endpoint SET status = 'disabled', reason = 'requested', updated_at = ? WHERE id = ?`,
    at,
    key.id,
  );
  yield* recordChange({ ...key, at, by }, 'webhook.disabled', stateOf(endpoint), stateOf(DISABLED));
  return yield* findEndpoint(key);
}

const ENABLED = { status: 'enabled', reason: null } as const;
const DISABLED = { status: 'disabled', reason: 'requested' } as const;

/** How many rows each transaction of a removal deletes. */
const REMOVED_AT_ONCE = 1000;

/** Removes the first pending calls of an endpoint. */
function removeRetries(id: string): Operation<number> {
  return write(
    `DELETE FROM messaging_endpoint_retry WHERE endpoint_id = ? AND sequence <= (SELECT max(sequence) FROM (
      SELECT r.sequence FROM messaging_endpoint_retry r WHERE r.endpoint_id = ? ORDER BY r.sequence LIMIT ?) first)`,
    id,
    id,
    REMOVED_AT_ONCE,
  );
}

/** Removes an endpoint. The records of its calls stay until they are 7 days old. */
function* removeEndpoint(dialect: Dialect, key: EndpointKey, at: number, by: Author): Operation<boolean> {
  const endpoint = yield* lockEndpoint(dialect, key);
  if (!endpoint) return false;
  const { id, accountId } = key;
  yield* write('DELETE FROM messaging_endpoint WHERE id = ?', id);
  yield* write('DELETE FROM messaging_endpoint_retry WHERE endpoint_id = ?', id);
  yield* write('DELETE FROM messaging_endpoint_replay WHERE endpoint_id = ?', id);
  yield* recordAudit({ accountId, at, by, action: 'webhook.removed', target: id, before: definitionOf(endpoint) });
  // This comes last, so that other transactions do not wait for the deletions while they wait for the lock on the counter.
  yield* write('UPDATE messaging_event_counter SET used_at = ? WHERE id = ? AND used_at < ?', at, accountId, at);
  return true;
}

/** Records a change in the audit log, with the fields that have changed. */
function* recordChange(
  { id, accountId, at, by }: EndpointKey & { readonly at: number; readonly by: Author },
  action: AuditAction,
  before: AuditFields,
  after: AuditFields,
): Operation<void> {
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const only = (fields: AuditFields) => Object.fromEntries(changed.map((name) => [name, fields[name] ?? null]));
  yield* recordAudit({ accountId, at, by, action, target: id, before: only(before), after: only(after) });
}

function stateOf({ status, reason }: Pick<Endpoint, 'status' | 'reason'>): AuditFields {
  return { status, reason };
}

function isSameDefinition(one: EndpointDefinition, other: EndpointDefinition): boolean {
  return one.url === other.url && isDeepStrictEqual(definitionOf(one), definitionOf(other));
}

/**
 * Returns the fields of a definition that the audit log shows. The log has only a digest of the URL, because a path or a query
 * may contain a secret of the receiver.
 */
function definitionOf({ url, types, ordering, batch, description }: EndpointDefinition): AuditFields {
  return {
    origin: new URL(url).origin,
    url_digest: createHash('sha256').update(url).digest('hex').slice(0, 12),
    types: types ?? ['*'],
    ordering,
    batch_max: batch.max,
    batch_wait_ms: batch.waitMs,
    description,
  };
}
