import type { AuditEntry } from '../../../accounts/audit/audit.js';
import { recordAudit } from '../../../accounts/audit/audit-sql.js';
import type { LedgerPart } from '../../../billing/ledger-store.js';
import type { Executor } from '../../../storage/engine/executor.js';
import { type Row, rowsOf, write } from '../../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../../storage/engine/rows.js';
import { type CheckRun, CheckRunStore, type CheckStep } from './check-run-store.js';

/** The row of the books' check. */
const LEDGER = 'ledger';

/** Checks of the books in SQL. */
export class TypeormCheckRunStore extends CheckRunStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override begin({ id, leaseUntil, at }: Parameters<CheckRunStore['begin']>[0], entry: AuditEntry): Promise<boolean> {
    const { dialect } = this.executor;
    const fresh = [id, 'running', 0, '[]', at, leaseUntil];
    return this.executor.write(function* () {
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

  override async step({ id, part, checked, leaseUntil }: CheckStep): Promise<boolean> {
    const sql =
      "UPDATE messaging_check SET part = ?, checked = ?, lease_until = ? WHERE id = ? AND owner = ? AND state = 'running'";
    const step = () => write(sql, part ?? null, checked, leaseUntil, LEDGER, id);
    return (await this.executor.writeLazily(step)) > 0;
  }

  override async end({ id, state, findings, at }: Parameters<CheckRunStore['end']>[0]): Promise<void> {
    const sql =
      'UPDATE messaging_check SET state = ?, findings = ?, ended_at = ?, lease_until = NULL WHERE id = ? AND owner = ?';
    await this.executor.write(() => write(sql, state, JSON.stringify(findings), at, LEDGER, id));
  }

  override async last(now: number): Promise<CheckRun | undefined> {
    const find = () => rowsOf('SELECT * FROM messaging_check WHERE id = ?', LEDGER);
    const [row] = await this.executor.read(find);
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
