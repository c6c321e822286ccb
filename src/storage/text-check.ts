import { randomUUID } from 'node:crypto';
import { MessagingOptionsError, StorageUnavailableError } from '../common/errors.js';
import { codeOf } from './engine/blame.js';
import type { Database } from './engine/database.js';
import { type Operation, type Row, rowsOf } from './engine/operation.js';
import { integerOf } from './engine/rows.js';

/** Characters of one to four bytes in UTF-8: of Latin-1, of Windows-1252 only, Cyrillic, and an emoji. */
const TEXT = 'é € Привет 😀';

/** Thrown to roll back the transaction of the check, so that nothing of it is kept. */
class Undo extends Error {
  constructor(readonly row: Row | undefined) {
    super('Undo.');
  }
}

/**
 * Writes a text with all kinds of characters in the way in which a send is written, reads it back, and rolls back. So
 * an application does not start on a database that refuses writes, or with connections that change texts.
 *
 * @throws MessagingOptionsError if the text is refused or changed
 * @throws StorageUnavailableError if the database refuses writes
 */
export async function checkTexts(database: Database): Promise<void> {
  try {
    await database.write(() => roundTrip(database));
  } catch (error) {
    if (error instanceof Undo) return checkRow(database, error.row);
    // Another process is writing to the SQLite file, which proves that it can be written to.
    if (database.dialect.blocksWhileReading && error instanceof StorageUnavailableError && !error.cause) return;
    if (error instanceof StorageUnavailableError) throw error;
    throw fault(`is refused (${codeOf(error) ?? 'no code'})`);
  }
}

function* roundTrip({ dialect }: Database): Operation<void> {
  const id = `start-${randomUUID()}`;
  yield dialect.insertRows({
    table: 'messaging_check',
    shape: { id: 'id', owner: 'id', state: 'id', findings: 'text', checked: 'integer', started_at: 'integer' },
    rows: [[id, id, 'running', TEXT, 0, 0]],
  });
  const sql = 'SELECT findings, OCTET_LENGTH(findings) AS bytes FROM messaging_check WHERE id = ? AND findings = ?';
  throw new Undo((yield* rowsOf(sql, id, TEXT))[0]);
}

function checkRow({ dialect }: Database, row: Row | undefined): void {
  if (row?.findings !== TEXT) throw fault('comes back as another one');
  // A text that is encoded twice comes back unchanged, but only on connections with the same fault. So the stored bytes
  // are counted. SQLite is not checked, because it may store UTF-16.
  const isWhole = dialect.blocksWhileReading || integerOf(row, 'bytes') === Buffer.byteLength(TEXT);
  if (!isWhole) throw fault('is kept as another one');
}

function fault(what: string): MessagingOptionsError {
  return new MessagingOptionsError(
    `Option storage: this database cannot be used: a text with €, Cyrillic letters and an emoji ${what}. The character set of its connections must be UTF-8: utf8mb4 on MariaDB and MySQL (charset of the DataSource, init_connect), client_encoding UTF8 on PostgreSQL.`,
  );
}
