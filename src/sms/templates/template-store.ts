import { recordAudit } from '../../accounts/audit/audit.js';
import { type AuditFields, type Author } from '../../accounts/audit/audit-entry.js';
import { MessagingError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/listing/page.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, textOf } from '../../storage/engine/rows.js';
import { bytesWith, readRows } from '../../storage/read-page.js';
import { MAX_TEMPLATES } from './template.api.js';

/** What identifies a template. */
export interface TemplateKey {
  readonly accountId: string;
  readonly name: string;
}

/** The parts of a template that may change. */
export interface TemplateDefinition {
  readonly content: string;
  readonly signature: string | undefined;
}

/** A stored template. */
export interface StoredTemplate extends TemplateKey, TemplateDefinition {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * Persists templates. Every method is one transaction, and throws `StorageUnavailableError` if the database does not answer. The
 * transaction of a change also writes it to the audit log, without the text.
 */
export class TemplateStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores a new template. A lock on the account decides on the number of its templates.
   * @throws MessagingError `error.account_not_found`, `error.template_exists`, `error.too_many_templates` for more than
   * {@link MAX_TEMPLATES}
   */
  create(template: StoredTemplate, by: Author): Promise<void> {
    return this.database.write(() => createTemplate(this.database.dialect, template, by));
  }

  /** Replaces content and signature. Returns the template as it is then; undefined if there is none. */
  replace(key: TemplateKey, to: TemplateDefinition, at: number, by: Author): Promise<StoredTemplate | undefined> {
    return this.database.write(() => replaceTemplate(this.database.dialect, key, to, at, by));
  }

  /** Removes a template. Returns false if there is none. */
  remove(key: TemplateKey, at: number, by: Author): Promise<boolean> {
    return this.database.write(() => removeTemplate(this.database.dialect, key, at, by));
  }

  /** Finds a template. With `host`, it is read in the host's open transaction. */
  find(key: TemplateKey, host?: HostTransaction): Promise<StoredTemplate | undefined> {
    return this.database.read(() => findTemplate(key), host);
  }

  /** Lists the templates of an account in the order of their names. `after` is the last name of the previous page. */
  list(accountId: string, { limit, after = '' }: PageRequest): Promise<Page<StoredTemplate>> {
    return this.database.browse(() => listTemplates(accountId, limit, after), accountId);
  }
}

const COLUMNS = 'account_id, name, content, signature, created_at, updated_at';
const ONE = 'account_id = ? AND name = ?';

function* createTemplate(dialect: Dialect, template: StoredTemplate, by: Author): Operation<void> {
  const { accountId, name, content, signature, createdAt, updatedAt } = template;
  if (!(yield* lockAccount(dialect, accountId))) throw new MessagingError('error.account_not_found');
  if (yield* findTemplate(template)) throw new MessagingError('error.template_exists', { name });
  const [counted] = yield* rowsOf('SELECT count(*) AS n FROM messaging_template WHERE account_id = ?', accountId);
  if (counted && integerOf(counted, 'n') >= MAX_TEMPLATES) {
    throw new MessagingError('error.too_many_templates', { max: MAX_TEMPLATES });
  }
  yield* write(
    `INSERT INTO messaging_template (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`,
    accountId,
    name,
    content,
    signature ?? null,
    createdAt,
    updatedAt,
  );
  const after = audited(template);
  yield* recordAudit({ accountId, at: createdAt, by, action: 'template.created', target: name, after });
}

function* replaceTemplate(
  dialect: Dialect,
  key: TemplateKey,
  { content, signature }: TemplateDefinition,
  at: number,
  by: Author,
): Operation<StoredTemplate | undefined> {
  yield* lockAccount(dialect, key.accountId);
  const earlier = yield* findTemplate(key);
  if (!earlier) return undefined;
  const { accountId, name } = key;
  const template = { ...earlier, content, signature, updatedAt: at };
  if (content === earlier.content && signature === earlier.signature) return earlier;
  yield* write(
    `UPDATE messaging_template SET content = ?, signature = ?, updated_at = ? WHERE ${ONE}`,
    content,
    signature ?? null,
    at,
    accountId,
    name,
  );
  const [before, after] = [audited(earlier), audited(template)];
  yield* recordAudit({ accountId, at, by, action: 'template.changed', target: name, before, after });
  return template;
}

function* removeTemplate(dialect: Dialect, key: TemplateKey, at: number, by: Author): Operation<boolean> {
  yield* lockAccount(dialect, key.accountId);
  const earlier = yield* findTemplate(key);
  if (!earlier) return false;
  const { accountId, name } = key;
  yield* write(`DELETE FROM messaging_template WHERE ${ONE}`, accountId, name);
  yield* recordAudit({ accountId, at, by, action: 'template.removed', target: name, before: audited(earlier) });
  return true;
}

/** Locks the account's row, so that changes of its templates happen one after the other. Returns false without an account. */
function* lockAccount(dialect: Dialect, accountId: string): Operation<boolean> {
  const sql = dialect.lockByIds('messaging_account', 'a.id', 'wait', 'no key update');
  return (yield* rowsOf(sql, JSON.stringify([accountId]))).length > 0;
}

function* findTemplate({ accountId, name }: TemplateKey): Operation<StoredTemplate | undefined> {
  const [row] = yield* rowsOf(`SELECT ${COLUMNS} FROM messaging_template WHERE ${ONE}`, accountId, name);
  return row && toTemplate(row);
}

function* listTemplates(accountId: string, limit: number, after: string): Operation<Page<StoredTemplate>> {
  const read = (columns: string, most: number) =>
    rowsOf(
      `SELECT ${columns} FROM messaging_template WHERE account_id = ? AND name > ? ORDER BY name LIMIT ?`,
      accountId,
      after,
      most,
    );
  const { rows, isLast } = yield* readRows(read, COLUMNS, bytesWith('content'), limit);
  const items = rows.map(toTemplate);
  return { items, next: isLast ? undefined : items.at(-1)?.name };
}

/** The audit log has no texts, so it has the length only. */
function audited({ content, signature }: TemplateDefinition): AuditFields {
  return { signature: signature ?? null, characters: [...content].length };
}

function toTemplate(row: Row): StoredTemplate {
  return {
    accountId: textOf(row, 'account_id'),
    name: textOf(row, 'name'),
    content: textOf(row, 'content'),
    signature: optionalText(row, 'signature'),
    createdAt: integerOf(row, 'created_at'),
    updatedAt: integerOf(row, 'updated_at'),
  };
}
