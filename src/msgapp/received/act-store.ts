import type { Database } from '../../storage/engine/database.js';
import { rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';

/** Something to do to a received message. */
export interface ReceivedAct {
  readonly id: string;
  /** The session that does it. */
  readonly sessionId: string;
  readonly receivedId: string;
  /** The emoji of a reaction, '' to take it back. Undefined: the message is to be shown as read. */
  readonly emoji: string | undefined;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
}

const TABLE = 'messaging_msgapp_act';
const SHAPE = shapeOf('id session_id received_id emoji', 'asked_at');

/**
 * Persists what another process is to do to received messages, because only the process that has a session can do it. Every method
 * is one transaction.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class ActStore {
  constructor(private readonly database: Database) {}

  async add({ id, sessionId, receivedId, emoji, askedAt }: ReceivedAct): Promise<void> {
    const rows = [[id, sessionId, receivedId, emoji ?? null, askedAt]];
    const { dialect } = this.database;
    await this.database.write(function* () {
      yield dialect.insertRows({ table: TABLE, shape: SHAPE, rows });
    });
  }

  /** Returns at most `limit` acts of these sessions, in the order in which they were asked for. */
  async waiting(sessionIds: readonly string[], limit: number): Promise<readonly ReceivedAct[]> {
    if (sessionIds.length === 0) return [];
    const rows = await this.database.read(() =>
      rowsOf(
        `SELECT a.id, a.session_id, a.received_id, a.emoji, a.asked_at FROM ${TABLE} a
          WHERE a.session_id ${this.database.dialect.among()} ORDER BY a.id LIMIT ?`,
        JSON.stringify(sessionIds),
        limit,
      ),
    );
    return rows.map((row) => ({
      id: textOf(row, 'id'),
      sessionId: textOf(row, 'session_id'),
      receivedId: textOf(row, 'received_id'),
      emoji: optionalText(row, 'emoji'),
      askedAt: integerOf(row, 'asked_at'),
    }));
  }

  async remove(id: string): Promise<void> {
    await this.database.write(() => write(`DELETE FROM ${TABLE} WHERE id = ?`, id));
  }

  /**
   * Removes at most `limit` acts that were asked for before a moment, in milliseconds since the epoch.
   * @returns how many were removed
   */
  purge(before: number, limit: number): Promise<number> {
    return this.database.write(() =>
      write(this.database.dialect.deleteFirst(TABLE, 'id', 'asked_at'), before - 1, limit),
    );
  }
}
