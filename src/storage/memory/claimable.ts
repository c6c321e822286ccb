import type { ClaimOrder } from '../../outbox/outbox-store.js';
import type { MemoryDelivery, MemoryTables } from './memory-tables.js';

/** The deliveries that an order may take, oldest due first; see `OutboxStore.claim`. */
export function claimable(tables: MemoryTables, order: ClaimOrder): MemoryDelivery[] {
  const { channel, lanes, limit, now, abandoned } = order;
  const unsent = [...tables.waiting].filter(
    ({ message, status }) => message.channel === channel && (status === 'queued' || status === 'sending'),
  );
  const candidates = lanes ? laneHeads(unsent, lanes) : unsent.filter(({ message }) => message.lane === undefined);
  return candidates
    .filter((row) => isDue(row, now) && (row.status === 'queued' || abandoned))
    .sort(byDueTime)
    .slice(0, limit);
}

/** The first unsent delivery of each wanted lane: nothing behind it may overtake it. `rows` stand in accept order. */
function laneHeads(rows: readonly MemoryDelivery[], lanes: readonly string[]): MemoryDelivery[] {
  const wanted = new Set(lanes);
  const heads = new Map<string, MemoryDelivery>();
  for (const row of rows) {
    const { lane } = row.message;
    if (lane !== undefined && wanted.has(lane) && !heads.has(lane)) heads.set(lane, row);
  }
  return [...heads.values()];
}

/** Whether somebody has to look at a row by now. */
export function isDue({ dueAt }: MemoryDelivery, now: number): boolean {
  return dueAt !== null && dueAt <= now;
}

/** Oldest due first; equal ones keep their accept order. */
export function byDueTime(a: MemoryDelivery, b: MemoryDelivery): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0);
}
