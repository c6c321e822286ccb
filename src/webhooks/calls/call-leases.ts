import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { ENDPOINT, toEndpoint } from '../endpoints/endpoint-rows.js';
import type { EndpointLease, RenewedLease, TakenEndpoints, TakeOrder } from './call-records.js';

/** A condition that is true if an endpoint has something to call: new events, pending calls, or a replay. */
function hasWork(dialect: Dialect): string {
  const works = [
    `messaging_event_counter c WHERE ${dialect.lookUp('c.id = p.account_id')} AND c.sequence > p.cursor_at`,
    `messaging_endpoint_retry r WHERE ${dialect.lookUp('r.endpoint_id = p.id')} AND r.due_at IS NOT NULL`,
    `messaging_endpoint_replay y WHERE ${dialect.lookUp('y.endpoint_id = p.id')}`,
  ];
  return `(${works.map((each) => `EXISTS (SELECT 1 FROM ${each})`).join(' OR ')})`;
}

/** See `CallStore.take`. It first looks without locks, so that it writes only if there is something to take. */
export function* takeEndpoints(
  dialect: Dialect,
  { owner, now, leaseUntil, accounts, after = '', limit }: TakeOrder,
): Operation<TakenEndpoints> {
  const columns = `p.id, CASE WHEN p.status = 'enabled' AND p.lease_until <= ? AND ${hasWork(dialect)} THEN 1 ELSE 0 END AS free`;
  const seen = accounts
    ? yield* rowsOf(
        `SELECT ${columns} FROM messaging_endpoint p WHERE p.account_id ${dialect.among()} AND p.id > ? ORDER BY p.id LIMIT ?`,
        now,
        JSON.stringify(accounts),
        after,
        limit,
      )
    : yield* rowsOf(
        `SELECT ${columns} FROM messaging_endpoint p WHERE p.id > ? ORDER BY p.id LIMIT ?`,
        now,
        after,
        limit,
      );
  const last = seen.at(-1);
  const next = last && seen.length === limit ? textOf(last, 'id') : undefined;
  const free = seen.filter((row) => integerOf(row, 'free') === 1).map((row) => textOf(row, 'id'));
  if (free.length === 0) return { taken: [], next };
  const held = yield* rowsOf(
    dialect.lockByIds('messaging_endpoint', 'a.id, a.status, a.lease_until', 'skip', 'no key update'),
    JSON.stringify(free),
  );
  const ids = held
    .filter((row) => textOf(row, 'status') === 'enabled' && integerOf(row, 'lease_until') <= now)
    .map((row) => textOf(row, 'id'));
  if (ids.length === 0) return { taken: [], next };
  yield* write(
    `UPDATE messaging_endpoint SET owner = ?, lease_until = ?, epoch = epoch + 1 WHERE id ${dialect.among()}`,
    owner,
    leaseUntil,
    JSON.stringify(ids),
  );
  const rows = yield* rowsOf(
    `SELECT ${ENDPOINT}, epoch FROM messaging_endpoint WHERE id ${dialect.among()}`,
    JSON.stringify(ids),
  );
  const taken = rows.map((row) => {
    const endpoint = toEndpoint(row);
    return { endpoint, lease: { endpointId: endpoint.id, epoch: integerOf(row, 'epoch') } };
  });
  return { taken, next };
}

/** See `CallStore.renew`. */
export function* renewEndpoints(
  dialect: Dialect,
  owner: string,
  leases: readonly EndpointLease[],
  until: number,
): Operation<readonly RenewedLease[]> {
  const rows = yield* lockOurs(dialect, owner, leases);
  yield* write(
    `UPDATE messaging_endpoint SET lease_until = ? WHERE id ${dialect.among()}`,
    until,
    JSON.stringify([...rows.keys()]),
  );
  return [...rows].map(([endpointId, row]) => ({
    endpointId,
    epoch: integerOf(row, 'epoch'),
    updatedAt: integerOf(row, 'updated_at'),
  }));
}

/** See `CallStore.load`. */
export function* loadEndpoint(owner: string, { endpointId, epoch }: EndpointLease): Operation<Endpoint | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${ENDPOINT} FROM messaging_endpoint WHERE id = ? AND owner = ? AND epoch = ? AND status = 'enabled'`,
    endpointId,
    owner,
    epoch,
  );
  return row && toEndpoint(row);
}

/** See `CallStore.release`. */
export function* releaseEndpoints(dialect: Dialect, owner: string, leases: readonly EndpointLease[]): Operation<void> {
  const rows = yield* lockOurs(dialect, owner, leases);
  yield* write(
    `UPDATE messaging_endpoint SET owner = NULL, lease_until = 0 WHERE id ${dialect.among()}`,
    JSON.stringify([...rows.keys()]),
  );
}

/**
 * Locks the endpoints of these leases, in the order of their ids. Endpoints that another process has leased meanwhile are left
 * out.
 */
export function* lockOurs(
  dialect: Dialect,
  owner: string,
  leases: readonly EndpointLease[],
): Operation<ReadonlyMap<string, Row>> {
  const asked = new Set(leases.map(({ endpointId, epoch }) => `${endpointId} ${epoch}`));
  const columns = 'a.id, a.account_id, a.url, a.status, a.owner, a.epoch, a.updated_at';
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_endpoint', columns, 'wait', 'no key update'),
    JSON.stringify([...new Set(leases.map(({ endpointId }) => endpointId))]),
  );
  const ours = rows.filter(
    (row) => row.owner === owner && asked.has(`${textOf(row, 'id')} ${integerOf(row, 'epoch')}`),
  );
  return new Map(ours.map((row) => [textOf(row, 'id'), row]));
}
