import type { LedgerEntry } from '../../billing/ledger-store.js';
import type { MemoryDelivery, MemoryMessage, MemoryTables } from './memory-tables.js';

/** One sentence for each disagreement between balances, ledger and messages; see `LedgerStore.check`. */
export function checkBooks(tables: MemoryTables): string[] {
  return [...balanceFaults(tables), ...entryFaults(tables), ...repeatFaults(tables), ...messageFaults(tables)];
}

function* balanceFaults(tables: MemoryTables): Generator<string> {
  const sums = new Map<string, number>();
  for (const { accountId, units } of tables.entries.values()) sums.set(accountId, (sums.get(accountId) ?? 0) + units);
  for (const id of new Set([...tables.balances.keys(), ...sums.keys()])) {
    const balance = tables.balance(id);
    const sum = sums.get(id) ?? 0;
    if (balance === undefined) {
      yield `Account ${id}: it does not exist and has entries.`;
      continue;
    }
    if (balance !== sum) yield `Account ${id}: the balance is ${balance}, its entries make ${sum}.`;
    if (balance < 0) yield `Account ${id}: the balance is negative, ${balance}.`;
  }
}

function* entryFaults({ entries, messages }: MemoryTables): Generator<string> {
  for (const entry of entries.values()) {
    const { id, accountId, kind, units } = entry;
    const message = messages.get(entry.messageId ?? '');
    if (kind === 'topup' && units < 0) yield `Top-up ${id} of account ${accountId}: its units are negative, ${units}.`;
    if (kind === 'charge') yield* chargeFaults(entry, message);
    if (kind === 'refund') yield* refundFaults(entry, message);
  }
}

function* chargeFaults({ id, accountId, units, messageId }: LedgerEntry, message?: MemoryMessage): Generator<string> {
  if (!message) yield `Charge ${id}: there is no message ${messageId}.`;
  else if (message.units + units !== 0 || message.accountId !== accountId) {
    yield `Charge ${id}: ${units} units of account ${accountId} were booked for message ${messageId} of ${message.units} units of account ${message.accountId}.`;
  }
}

function* refundFaults(refund: LedgerEntry, message?: MemoryMessage): Generator<string> {
  const { id, accountId, units, messageId, position } = refund;
  const delivery = message?.deliveries[position ?? -1];
  if (delivery?.status !== 'failed' || delivery.units !== units || message?.accountId !== accountId) {
    yield `Refund ${id}: ${units} units went to account ${accountId}, no recipient of message ${messageId} that failed there had as many.`;
  }
}

function* repeatFaults({ entries }: MemoryTables): Generator<string> {
  const times = new Map<string, number>();
  for (const { kind, messageId, position } of entries.values()) {
    const what = kind === 'charge' ? 'it was charged' : `recipient ${position} was refunded`;
    const about = `Message ${messageId}: ${what}`;
    if (kind === 'charge' || kind === 'refund') times.set(about, (times.get(about) ?? 0) + 1);
  }
  for (const [about, count] of times) if (count > 1) yield `${about} ${count} times.`;
}

function* messageFaults({ entries, messages }: MemoryTables): Generator<string> {
  for (const { id, units, refundedUnits, deliveries } of messages.values()) {
    if (entries.get(id)?.kind !== 'charge') yield `Message ${id}: there is no charge.`;
    const sums = { units: 0, refunded: 0 };
    for (const delivery of deliveries) {
      sums.units += delivery.units;
      sums.refunded += delivery.refundedUnits;
      yield* deliveryFaults(id, delivery);
      const owed = delivery.status === 'failed' && delivery.units > 0;
      if (owed && entries.get(`${id}:${delivery.position}`)?.kind !== 'refund') {
        yield `Message ${id}: recipient ${delivery.position} failed and was not refunded.`;
      }
    }
    if (units !== sums.units || refundedUnits !== sums.refunded) {
      yield `Message ${id}: its units are ${units} and ${refundedUnits} refunded, its recipients make ${sums.units} and ${sums.refunded}.`;
    }
  }
}

function* deliveryFaults(id: string, { position, status, units, refundedUnits }: MemoryDelivery): Generator<string> {
  if (units < 0 || refundedUnits !== (status === 'failed' ? units : 0)) {
    yield `Message ${id}: recipient ${position} is ${status}, its units are ${units} and ${refundedUnits} refunded.`;
  }
}
