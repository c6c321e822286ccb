import type { Database } from '../storage/engine/database.js';
import { rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../storage/engine/rows.js';

/** An app's own address of a number. */
export interface KnownAddress {
  readonly address: string;
  /** When the app's server gave it, in milliseconds since the epoch. */
  readonly learnedAt: number;
}

/** A number on an app. */
export interface AddressKey {
  /**
   * The transport's name. All sessions, channels and accounts of an app share the addresses that its server gives. At most 64
   * characters.
   */
  readonly app: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

const TABLE = 'messaging_msgapp_address';
const KEY = 'number, app';
const SHAPE = shapeOf('number app address', 'learned_at');

/**
 * Persists which address an app's server gave for a number, because it may have other digits than the number. For example the
 * Brazilian mobile `5511987654321` may be `551187654321` there. Every method is one transaction.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class AddressStore {
  constructor(private readonly database: Database) {}

  async find({ app, number }: AddressKey): Promise<KnownAddress | undefined> {
    const sql = `SELECT a.address, a.learned_at FROM ${TABLE} a WHERE a.number = ? AND a.app = ?`;
    const [row] = await this.database.read(() => rowsOf(sql, number, app));
    return row && { address: textOf(row, 'address'), learnedAt: integerOf(row, 'learned_at') };
  }

  /** Stores an address of at most 255 characters. It replaces an earlier address of the number. */
  async remember({ app, number }: AddressKey, { address, learnedAt }: KnownAddress): Promise<void> {
    const rows = [[number, app, address, learnedAt]];
    const { dialect } = this.database;
    await this.database.write(function* () {
      yield dialect.insertRows({ table: TABLE, shape: SHAPE, rows, onDuplicate: [KEY, ['address', 'learned_at']] });
    });
  }

  /** Removes this address of a number. If another process has stored a newer address meanwhile, it stays. */
  async forget({ app, number }: AddressKey, address: string): Promise<void> {
    const sql = `DELETE FROM ${TABLE} WHERE number = ? AND app = ? AND address = ?`;
    await this.database.write(() => write(sql, number, app, address));
  }

  /**
   * Removes the addresses of a number on all apps.
   * @returns how many were removed
   */
  erase(number: string): Promise<number> {
    return this.database.write(() => write(`DELETE FROM ${TABLE} WHERE number = ?`, number));
  }

  /**
   * Removes at most `limit` addresses that were learned before a moment, in milliseconds since the epoch.
   * @returns how many were removed
   */
  purge(before: number, limit: number): Promise<number> {
    return this.database.write(() =>
      write(this.database.dialect.deleteFirst(TABLE, KEY, 'learned_at'), before - 1, limit),
    );
  }
}
