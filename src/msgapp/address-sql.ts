import type { Executor } from '../storage/engine/executor.js';
import { rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../storage/engine/rows.js';
import { type AddressKey, AddressStore, type KnownAddress } from './address-store.js';

const TABLE = 'messaging_msgapp_address';
const KEY = 'number, app';
const SHAPE = shapeOf('number app address', 'learned_at');

/** Addresses of numbers in SQL. */
export class TypeormAddressStore extends AddressStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override async find({ app, number }: AddressKey): Promise<KnownAddress | undefined> {
    const sql = `SELECT a.address, a.learned_at FROM ${TABLE} a WHERE a.number = ? AND a.app = ?`;
    const [row] = await this.executor.read(() => rowsOf(sql, number, app));
    return row && { address: textOf(row, 'address'), learnedAt: integerOf(row, 'learned_at') };
  }

  override async remember({ app, number }: AddressKey, { address, learnedAt }: KnownAddress): Promise<void> {
    const rows = [[number, app, address, learnedAt]];
    const { dialect } = this.executor;
    await this.executor.write(function* () {
      yield dialect.insertRows({ table: TABLE, shape: SHAPE, rows, onDuplicate: [KEY, ['address', 'learned_at']] });
    });
  }

  override async forget({ app, number }: AddressKey, address: string): Promise<void> {
    const sql = `DELETE FROM ${TABLE} WHERE number = ? AND app = ? AND address = ?`;
    await this.executor.write(() => write(sql, number, app, address));
  }

  override erase(number: string): Promise<number> {
    return this.executor.write(() => write(`DELETE FROM ${TABLE} WHERE number = ?`, number));
  }

  override purge(before: number, limit: number): Promise<number> {
    return this.executor.write(() =>
      write(this.executor.dialect.deleteFirst(TABLE, KEY, 'learned_at'), before - 1, limit),
    );
  }
}
