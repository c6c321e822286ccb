import { recordAudit } from '../../../accounts/audit/audit.js';
import { type AuditEntry } from '../../../accounts/audit/audit-entry.js';
import type { LedgerPart } from '../../../billing/ledger.api.js';
import type { Database } from '../../../storage/engine/database.js';
import { type Row, rowsOf, write } from '../../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../../storage/engine/rows.js';

/** The last check of the books. */
export interface CheckRun {
  readonly id: string;
  /** `failed`: it broke off, with its process or its database. */
  readonly state: 'running' | 'done' | 'failed';
  /** The part that it is in, or ended in; undefined: before the first. */
  readonly part: LedgerPart | undefined;
  /** How many rows of the part it has checked. */
  readonly checked: number;
  /** One sentence for each fault; empty while it runs. */
  readonly findings: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly endedAt: number | undefined;
}

/** What a running check tells of itself. */
export interface CheckStep extends Pick<CheckRun, 'part' | 'checked'> {
  readonly id: string;
  /** When it counts as broken off unless it tells of itself before, milliseconds since the epoch. */
  readonly leaseUntil: number;
}

/** The row of the books' check. */
const LEDGER = 'ledger';

/** Keeps the last check of the books, one for all processes. Every method throws `StorageUnavailableError`. */
export class CheckRunStore {
  constructor(private readonly database: Database) {}

  /**
   * Begins a check in place of the last one, with the entry of the audit log, unless one is running.
   * @returns whether it has begun
   */
  begin(
    { id, leaseUntil, at }: Pick<CheckStep, 'id' | 'leaseUntil'> & { readonly at: number },
    entry: AuditEntry,
  ): Promise<boolean> {
    const { dialect } = this.database;
    const fresh = [id, 'running', 0, '[]', at, leaseUntil];
    return this.database.write(function* () {
      // Takes over the row of a check that has ended or broken off; two transactions wait for each other at it.
      const taken = yield* write(
        `UPDATE messaging_check SET owner = ?, state = ?, part = NULL, checked = ?, findings = ?, started_at = ?,
          lease_until = ?, ended_at = NULL WHERE id = ? AND (lease_until IS NULL OR lease_until <= ?)`,
        ...fresh,
        LEDGER,
        at,
      );
      const insert = {
        sql: `INSERT INTO messaging_check (owner, state, checked, findings, started_at, lease_until, id)
          VALUES (?, ?, ?, ?, ?, ?, ?)`,
        params: [...fresh, LEDGER],
      };
      const begun = taken > 0 || (yield* dialect.insertNew(insert, 'id')) > 0;
      if (begun) yield* recordAudit(entry);
      return begun;
    });
  }

  /** Tells how far it has come. False: another one has begun meanwhile. */
  async step({ id, part, checked, leaseUntil }: CheckStep): Promise<boolean> {
    const sql =
      "UPDATE messaging_check SET part = ?, checked = ?, lease_until = ? WHERE id = ? AND owner = ? AND state = 'running'";
    const step = () => write(sql, part ?? null, checked, leaseUntil, LEDGER, id);
    return (await this.database.writeLazily(step)) > 0;
  }

  /** Ends it. */
  async end({
    id,
    state,
    findings,
    at,
  }: Pick<CheckRun, 'id' | 'findings'> & { readonly state: 'done' | 'failed'; readonly at: number }): Promise<void> {
    const sql =
      'UPDATE messaging_check SET state = ?, findings = ?, ended_at = ?, lease_until = NULL WHERE id = ? AND owner = ?';
    await this.database.write(() => write(sql, state, JSON.stringify(findings), at, LEDGER, id));
  }

  /** The last check, a broken off one as `failed`; undefined: there was none. */
  async last(now: number): Promise<CheckRun | undefined> {
    const find = () => rowsOf('SELECT * FROM messaging_check WHERE id = ?', LEDGER);
    const [row] = await this.database.read(find);
    return row && toRun(row, now);
  }
}

function toRun(row: Row, now: number): CheckRun {
  const leaseUntil = optionalInteger(row, 'lease_until');
  const brokeOff = leaseUntil !== undefined && leaseUntil <= now;
  return {
    id: textOf(row, 'owner'),
    // Only this class writes these columns, from values of these types.
    state: brokeOff ? 'failed' : (textOf(row, 'state') as CheckRun['state']),
    part: optionalText(row, 'part') as LedgerPart | undefined,
    checked: integerOf(row, 'checked'),
    findings: JSON.parse(textOf(row, 'findings')),
    startedAt: integerOf(row, 'started_at'),
    endedAt: brokeOff ? leaseUntil : optionalInteger(row, 'ended_at'),
  };
}
