import { recordAudit } from '../../../accounts/audit/audit.js';
import { type AuditEntry } from '../../../accounts/audit/audit-entry.js';
import type { LedgerPart } from '../../../billing/ledger.api.js';
import type { Database } from '../../../storage/engine/database.js';
import { type Row, rowsOf, write } from '../../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../../storage/engine/rows.js';

/** The last check of the books. */
export interface CheckRun {
  readonly id: string;
  /** `failed`: the check broke off, because its process ended or its database failed. */
  readonly state: 'running' | 'done' | 'failed';
  /** The part that the check is in, or in which it ended. Undefined: before the first part. */
  readonly part: LedgerPart | undefined;
  /** How many rows of the part the check has read. */
  readonly checked: number;
  /** One sentence for each fault. Empty while the check runs. */
  readonly findings: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly endedAt: number | undefined;
}

/** The progress that a running check reports. */
export interface CheckStep extends Pick<CheckRun, 'part' | 'checked'> {
  readonly id: string;
  /** When the check counts as broken off unless it reports progress before, in milliseconds since the epoch. */
  readonly leaseUntil: number;
}

/** The id of the row for the check of the books. */
const LEDGER = 'ledger';

/**
 * Keeps the last check of the books, one for all processes. Every method throws `StorageUnavailableError` if the database does
 * not answer.
 */
export class CheckRunStore {
  constructor(private readonly database: Database) {}

  /**
   * Begins a check, unless one is running. It replaces the last check, and the audit log gets an entry.
   * @returns whether the check has begun
   */
  begin(
    { id, leaseUntil, at }: Pick<CheckStep, 'id' | 'leaseUntil'> & { readonly at: number },
    entry: AuditEntry,
  ): Promise<boolean> {
    const { dialect } = this.database;
    const fresh = [id, 'running', 0, '[]', at, leaseUntil];
    return this.database.write(function* () {
      // This takes over the row of a check that has ended or broken off. Two transactions wait for each other at this row.
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

  /** Stores the progress of a check. Returns false if another check has begun meanwhile. */
  async step({ id, part, checked, leaseUntil }: CheckStep): Promise<boolean> {
    const sql =
      "UPDATE messaging_check SET part = ?, checked = ?, lease_until = ? WHERE id = ? AND owner = ? AND state = 'running'";
    const step = () => write(sql, part ?? null, checked, leaseUntil, LEDGER, id);
    return (await this.database.writeLazily(step)) > 0;
  }

  /** Stores the end of a check. */
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

  /** Returns the last check. A check that broke off is `failed`. Undefined: there was no check. */
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
    // The cast is safe, because only this class writes the column.
    state: brokeOff ? 'failed' : (textOf(row, 'state') as CheckRun['state']),
    part: optionalText(row, 'part') as LedgerPart | undefined,
    checked: integerOf(row, 'checked'),
    findings: JSON.parse(textOf(row, 'findings')),
    startedAt: integerOf(row, 'started_at'),
    endedAt: brokeOff ? leaseUntil : optionalInteger(row, 'ended_at'),
  };
}
