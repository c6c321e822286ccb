import type { Decide } from '../../outbox/decide.js';
import type { CommitOutcome } from '../../outbox/outbox-store.js';
import type { Send } from '../../outbox/send.js';
import type { Dialect } from './dialect.js';
import type { LaneTurns } from './lane-turns.js';
import type { Operation } from './operation.js';
import { insertSends } from './send-inserts.js';

/** Whether nothing but the balances decides on these sends, and the database can look at those while it writes. */
export function canCommitAtOnce(dialect: Dialect, sends: readonly Send[]): boolean {
  return dialect.ifPaid !== undefined && sends.every(({ once, guard }) => once === undefined && guard === undefined);
}

/**
 * `commitSends` in one round trip: decided as though every balance sufficed, and written only where they all do. Undefined,
 * and nothing written, where one does not or is held elsewhere; then somebody has to look first.
 */
export function* commitAtOnce(
  dialect: Dialect,
  sends: readonly Send[],
  decide: Decide,
  turns: LaneTurns,
): Operation<readonly CommitOutcome[] | undefined> {
  const balances = new Map(sends.map(({ accountId }) => [accountId, Number.POSITIVE_INFINITY]));
  const { outcomes, accepted, spent } = decide(sends, { balances, replies: new Map(), records: new Map() });
  const statement = dialect.ifPaid?.([...spent], insertSends(dialect, accepted, turns));
  if (!statement) return undefined;
  const { rows } = yield statement;
  return rows.some(({ paid }) => paid === true) ? outcomes : undefined;
}
