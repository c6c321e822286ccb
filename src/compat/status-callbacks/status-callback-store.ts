import type { SendStep } from '../../outbox/accept/send-step.js';
import type { Database } from '../../storage/engine/database.js';
import { rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import { callbackKind, type StatusCallback } from './status-callback.js';

/** The events of an account that this process tells. */
export interface TakenReader {
  readonly accountId: string;
  /** The events after this number have not been told yet. */
  readonly after: number;
}

const CALLBACK = shapeOf('message_id account_id kind url sealed_key', 'mask since created_at');

/** Keeps the URLs that want to know the status of messages. Each method is one transaction. */
export class StatusCallbackStore {
  constructor(private readonly database: Database) {}

  /** The step that stores a callback in the transaction of its send. */
  stepOf({ messageId, accountId, kind, url, sealedKey, mask, since, createdAt }: StatusCallback): SendStep {
    return {
      write: (dialect) => [
        dialect.insertRows({
          table: 'messaging_status_reader',
          shape: shapeOf('account_id', 'position lease_until'),
          rows: [[accountId, since, 0]],
          onDuplicate: ['account_id'],
        }),
        dialect.insertRows({
          table: 'messaging_status_callback',
          shape: CALLBACK,
          rows: [[messageId, accountId, kind, url, sealedKey ?? null, mask, since, createdAt]],
        }),
      ],
    };
  }

  /**
   * Takes an account that has events to tell.
   * @returns undefined if there is none
   */
  async take(owner: string, now: number, leaseUntil: number): Promise<TakenReader | undefined> {
    const find = `SELECT r.account_id, r.position FROM messaging_status_reader r
      JOIN messaging_event_counter c ON c.id = r.account_id
      WHERE r.lease_until <= ? AND c.sequence > r.position
        AND EXISTS (SELECT 1 FROM messaging_status_callback b WHERE b.account_id = r.account_id)
      ORDER BY r.lease_until LIMIT 1`;
    const [row] = await this.database.read(() => rowsOf(find, now));
    if (!row) return undefined;
    const accountId = textOf(row, 'account_id');
    const sql =
      'UPDATE messaging_status_reader SET owner = ?, lease_until = ? WHERE account_id = ? AND lease_until <= ?';
    if ((await this.database.write(() => write(sql, owner, leaseUntil, accountId, now))) === 0) return undefined;
    const [first] = await this.database.read(() =>
      rowsOf('SELECT min(since) AS since FROM messaging_status_callback WHERE account_id = ?', accountId),
    );
    // Events from before the oldest send concern no callback.
    const since = first?.since == null ? 0 : integerOf(first, 'since');
    return { accountId, after: Math.max(integerOf(row, 'position'), since) };
  }

  /** The callbacks of these messages, by message. */
  async of(messageIds: readonly string[]): Promise<ReadonlyMap<string, StatusCallback>> {
    const { dialect } = this.database;
    const rows = await this.database.read(() =>
      rowsOf(`SELECT * FROM messaging_status_callback WHERE message_id ${dialect.among()}`, JSON.stringify(messageIds)),
    );
    return new Map(
      rows.map((row) => {
        const messageId = textOf(row, 'message_id');
        return [
          messageId,
          {
            messageId,
            accountId: textOf(row, 'account_id'),
            kind: callbackKind(textOf(row, 'kind')),
            url: textOf(row, 'url'),
            sealedKey: optionalText(row, 'sealed_key'),
            mask: integerOf(row, 'mask'),
            since: integerOf(row, 'since'),
            createdAt: integerOf(row, 'created_at'),
          },
        ];
      }),
    );
  }

  /**
   * Stores that the events up to a number were told, and removes the callbacks of messages that were completed among them.
   * @param leaseUntil the end of the lease; 0: the account is given back
   * @returns false if another process has taken the account
   */
  async advance(
    owner: string,
    { accountId, after }: TakenReader,
    finished: readonly string[],
    leaseUntil: number,
  ): Promise<boolean> {
    const { dialect } = this.database;
    return this.database.write(function* () {
      const move =
        'UPDATE messaging_status_reader SET position = ?, lease_until = ? WHERE account_id = ? AND owner = ?';
      if ((yield* write(move, after, leaseUntil, accountId, owner)) === 0) return false;
      if (finished.length === 0) return true;
      yield* write(
        `DELETE FROM messaging_status_callback WHERE message_id ${dialect.among()}`,
        JSON.stringify(finished),
      );
      return true;
    });
  }

  /** The accounts whose messages have callbacks, so that their logs stay switched on. */
  async accounts(): Promise<readonly string[]> {
    const rows = await this.database.read(() => rowsOf('SELECT DISTINCT account_id FROM messaging_status_callback'));
    return rows.map((row) => textOf(row, 'account_id'));
  }

  /**
   * Removes at most `limit` callbacks of sends before a time.
   * @returns how many were removed
   */
  purge(before: number, limit: number): Promise<number> {
    const { dialect } = this.database;
    return this.database.write(() =>
      write(dialect.deleteFirst('messaging_status_callback', 'message_id', 'created_at'), before, limit),
    );
  }
}
