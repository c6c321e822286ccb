import { type DeliveryChange, type DeliveryUpdate, isAttempt } from '../../outbox/delivery-state.js';
import {
  type Delivery,
  type DeliveryTransition,
  type RecipientDetails,
  SHOWN_ATTEMPTS,
  type StoredMessage,
  type StoredRecipient,
} from '../../outbox/outbox-store.js';
import type { MemoryDelivery, MemoryMessage, MemoryTables } from './memory-tables.js';

/** Writes what `nextState` answered, books the refund, and says what moved. */
export function applyChange(
  tables: MemoryTables,
  row: MemoryDelivery,
  { status, dueAt, refund, attempt = row.attempt }: DeliveryChange,
  { error, reference = row.reference, trail = [], doubtful = row.doubtful, at }: DeliveryUpdate,
): DeliveryTransition {
  const { message, position, number } = row;
  const { id: messageId, accountId, channel } = message;
  Object.assign(row, { status, dueAt, attempt, doubtful, error, reference, updatedAt: at });
  row.trail.push(...trail);
  if (dueAt === null) tables.waiting.delete(row);
  if (refund > 0) {
    row.refundedUnits += refund;
    message.refundedUnits += refund;
    const id = `${messageId}:${position}`;
    tables.book({ id, accountId, kind: 'refund', units: refund, messageId, position, note: undefined, at });
  }
  return { messageId, position, accountId, channel, number, status, error, refund, at };
}

/** A row as its worker sees it. */
export function toDelivery({ message, position, number, attempt, doubtful }: MemoryDelivery): Delivery {
  const { id: messageId, accountId, channel, lane, sender, payload, acceptedAt } = message;
  const delivery = { messageId, position, accountId, channel, lane, sender, payload, number, attempt, acceptedAt };
  return doubtful ? { ...delivery, doubtful } : delivery;
}

/** A message's row without its recipients. */
export function toMessage({ deliveries, ...message }: MemoryMessage): StoredMessage {
  return { ...message, recipients: deliveries.length };
}

/** A recipient's row as its account sees it. */
export function toRecipient(row: MemoryDelivery): StoredRecipient {
  const { number, status, units, refundedUnits, error, updatedAt } = row;
  return { number, status, units, refundedUnits, error, updatedAt };
}

/** The same with its newest attempts. */
export function toDetails(row: MemoryDelivery): RecipientDetails {
  const attempts = row.trail.filter(isAttempt);
  return {
    ...toRecipient(row),
    position: row.position,
    attempts: attempts.slice(-SHOWN_ATTEMPTS),
    attemptsCount: attempts.length,
  };
}
