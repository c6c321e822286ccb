import type { LedgerEntry } from '../../billing/ledger-store.js';
import type { MemoryMessage, MemoryTables } from './memory-tables.js';

/** One sentence for each disagreement between balances, ledger and messages; see `LedgerStore.check`. */
export function checkBooks(tables: MemoryTables): string[] {
  return [...balanceFaults(tables), ...entryFaults(tables), ...messageFaults(tables)];
}

function* balanceFaults({ balances, entries }: MemoryTables): Generator<string> {
  const sums = new Map<string, number>();
  for (const { accountId, units } of entries.values()) sums.set(accountId, (sums.get(accountId) ?? 0) + units);
  for (const id of new Set([...balances.keys(), ...sums.keys()])) {
    const balance = balances.get(id) ?? 0;
    const sum = sums.get(id) ?? 0;
    if (balance !== sum) yield `Account ${id}: the balance is ${balance}, its entries make ${sum}.`;
    if (balance < 0) yield `Account ${id}: the balance is negative, ${balance}.`;
  }
}

function* entryFaults({ entries, messages }: MemoryTables): Generator<string> {
  for (const entry of entries.values()) {
    const message = messages.get(entry.messageId ?? '');
    if (entry.kind === 'charge') yield* chargeFaults(entry, message);
    if (entry.kind === 'refund') yield* refundFaults(entry, message);
  }
}

function* chargeFaults(charge: LedgerEntry, message: MemoryMessage | undefined): Generator<string> {
  if (!message) yield `Charge ${charge.id}: there is no message.`;
  else if (message.units + charge.units !== 0) {
    yield `Charge ${charge.id}: ${charge.units} units were booked for a message of ${message.units}.`;
  }
}

function* refundFaults(refund: LedgerEntry, message: MemoryMessage | undefined): Generator<string> {
  const delivery = message?.deliveries[refund.position ?? -1];
  if (delivery?.status !== 'failed') yield `Refund ${refund.id}: there is no failed recipient.`;
  else if (delivery.units !== refund.units) {
    yield `Refund ${refund.id}: ${refund.units} units came back for a recipient of ${delivery.units}.`;
  }
}

function* messageFaults({ entries, messages }: MemoryTables): Generator<string> {
  const booked = new Set<string>();
  for (const { kind, messageId, position } of entries.values()) booked.add(`${kind} ${messageId} ${position}`);
  for (const { id, units, refundedUnits, deliveries } of messages.values()) {
    if (!booked.has(`charge ${id} undefined`)) yield `Message ${id}: there is no charge.`;
    if (units < 0) yield `Message ${id}: its units are negative, ${units}.`;
    let refunds = 0;
    for (const delivery of deliveries) {
      refunds += delivery.refundedUnits;
      const owed = delivery.status === 'failed' && delivery.units > 0;
      if (owed && !booked.has(`refund ${id} ${delivery.position}`)) {
        yield `Message ${id}: recipient ${delivery.position} failed and was not refunded.`;
      }
    }
    if (refunds !== refundedUnits) {
      yield `Message ${id}: ${refundedUnits} units count as refunded, its recipients make ${refunds}.`;
    }
  }
}
