import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page } from '../../common/page.js';
import { type Decide, onceId, type SendDecision, type StoredReply } from '../../outbox/decide.js';
import { type DeliveryStatus, type DeliveryUpdate, nextState, shownStatus } from '../../outbox/delivery-state.js';
import {
  type ClaimOrder,
  type Delivery,
  type DeliveryTransition,
  type ExpiryOrder,
  FIRST_RECIPIENTS,
  type MessageQuery,
  OutboxStore,
  type RecipientPage,
  type RecipientQuery,
  type ReferredDelivery,
  type StoredMessage,
  type StoredRecipient,
  type TrailStep,
} from '../../outbox/outbox-store.js';
import type { IdempotencyKey, Send } from '../../outbox/send.js';
import { byDueTime, claimable, isDue } from './claimable.js';
import { insertSend } from './insert-send.js';
import { applyChange, toDelivery, toDetails, toMessage, toRecipient } from './memory-delivery.js';
import { memoryPage } from './memory-page.js';
import { seenRecords, writeRecords } from './memory-records.js';
import type { MemoryDelivery, MemoryMessage, MemoryTables } from './memory-tables.js';
import { refuseHost } from './refuse-host.js';

/** Sends and their deliveries in memory. */
export class MemoryOutboxStore extends OutboxStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async commit(
    sends: readonly Send[],
    decide: Decide,
    host?: HostTransaction,
  ): Promise<readonly SendDecision[]> {
    refuseHost(host);
    const { outcomes, accepted, records } = decide(sends, {
      balances: this.balances(sends),
      replies: this.liveReplies(sends),
      records: seenRecords(
        this.tables,
        sends.flatMap(({ guard }) => guard?.keys ?? []),
      ),
    });
    const ids = new Set(accepted.map(({ id }) => id));
    if (ids.size < accepted.length || [...ids].some((id) => this.tables.messages.has(id))) {
      throw new Error('A send with an id that is stored already cannot be stored again.');
    }
    for (const send of accepted) insertSend(this.tables, send);
    writeRecords(this.tables, records);
    return outcomes;
  }

  override async replay(
    key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
    now: number,
  ): Promise<StoredReply | undefined> {
    return this.liveReply(key, now);
  }

  override async claim(order: ClaimOrder): Promise<readonly Delivery[]> {
    const claimed = claimable(this.tables, order);
    for (const row of claimed) {
      Object.assign(row, {
        doubtful: row.doubtful || row.status === 'sending',
        status: 'sending',
        attempt: row.attempt + 1,
        dueAt: order.leaseUntil,
        updatedAt: order.now,
      });
    }
    return claimed.map(toDelivery);
  }

  override async settle(settlements: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    return settlements.flatMap((settlement) => {
      const row = this.tables.messages.get(settlement.messageId)?.deliveries[settlement.position];
      const change = row && nextState(row, settlement);
      if (!change) return [];
      const before = row.status;
      const movement = applyChange(this.tables, row, change, settlement);
      return change.status === before ? [] : [movement];
    });
  }

  override async expire({ channel, limit, now, statuses }: ExpiryOrder): Promise<readonly DeliveryTransition[]> {
    const wanted: readonly string[] = statuses;
    const late = [...this.tables.waiting]
      .filter((row) => row.message.channel === channel && wanted.includes(row.status) && isDue(row, now))
      .sort(byDueTime)
      .slice(0, limit);
    return this.settle(
      late.map((row) => ({ messageId: row.message.id, position: row.position, status: 'unknown', at: now })),
    );
  }

  override async nextDue(channel: string): Promise<number | undefined> {
    let next: number | undefined;
    for (const { message, dueAt } of this.tables.waiting) {
      if (message.channel === channel && dueAt !== null && (next === undefined || dueAt < next)) next = dueAt;
    }
    return next;
  }

  override async find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined> {
    const message = this.tables.messages.get(id);
    return message?.accountId === accountId && message.channel === channel ? toMessage(message) : undefined;
  }

  override async recipients(messageId: string): Promise<readonly StoredRecipient[]> {
    return (this.tables.messages.get(messageId)?.deliveries ?? []).slice(0, FIRST_RECIPIENTS).map(toRecipient);
  }

  override async recipientPage(messageId: string, { limit, from = 0, status }: RecipientQuery): Promise<RecipientPage> {
    const message = this.tables.messages.get(messageId);
    const rows = (message?.deliveries ?? []).filter((row) => row.position >= from && isSeen(row, status));
    return {
      items: rows.slice(0, limit).map(toDetails),
      next: rows[limit]?.position,
      refundedUnits: message?.refundedUnits ?? 0,
    };
  }

  override async trail(messageId: string): Promise<readonly TrailStep[]> {
    const rows = this.tables.messages.get(messageId)?.deliveries ?? [];
    const steps = rows.flatMap(({ position, trail }) => trail.map((entry) => ({ position, entry: { ...entry } })));
    return steps.sort((a, b) => a.entry.at - b.entry.at);
  }

  override async byReference(channel: string, references: readonly string[]): Promise<readonly ReferredDelivery[]> {
    const wanted: ReadonlySet<string | undefined> = new Set(references);
    const messages = [...this.tables.messages.values()].filter((message) => message.channel === channel);
    return messages.flatMap(({ id, deliveries }) =>
      deliveries.flatMap(({ position, reference }) =>
        reference !== undefined && wanted.has(reference) ? [{ reference, messageId: id, position }] : [],
      ),
    );
  }

  override async numbers(messageIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    return new Map(
      messageIds.map((id) => {
        const deliveries = this.tables.messages.get(id)?.deliveries ?? [];
        return [id, deliveries.slice(0, FIRST_RECIPIENTS).map(({ number }) => number)];
      }),
    );
  }

  override async list(query: MessageQuery): Promise<Page<StoredMessage>> {
    const { accountId, channel, kind } = query;
    const rows = [...this.tables.messages.values()]
      .filter((row) => row.accountId === accountId && row.channel === channel && row.payload.kind === kind)
      .map((row) => ({ id: row.id, at: row.acceptedAt, row }));
    const { items, next } = memoryPage(rows, query, ({ row }) => isListed(row, query));
    return { items: items.map(({ row }) => toMessage(row)), next };
  }

  override async purgeReplies(now: number, limit: number): Promise<number> {
    const expired = [...this.tables.replies].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, limit);
    for (const [id] of expired) this.tables.replies.delete(id);
    return expired.length;
  }

  protected balances(sends: readonly Send[]): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const { accountId } of sends) {
      const balance = this.tables.balance(accountId);
      if (balance !== undefined) found.set(accountId, balance);
    }
    return found;
  }

  protected liveReplies(sends: readonly Send[]): ReadonlyMap<string, StoredReply> {
    const live = new Map<string, StoredReply>();
    for (const { once, at } of sends) {
      const reply = once && this.liveReply(once, at);
      if (reply) live.set(onceId(once), reply);
    }
    return live;
  }

  private liveReply(key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>, now: number): StoredReply | undefined {
    const kept = this.tables.replies.get(onceId(key));
    return kept && kept.expiresAt > now ? { fingerprint: kept.fingerprint, reply: JSON.parse(kept.reply) } : undefined;
  }
}

function isListed(message: MemoryMessage, { number, status, sender, since, until }: MessageQuery): boolean {
  const { acceptedAt, deliveries, payload } = message;
  if (sender !== undefined && message.sender !== sender) return false;
  if ((since !== undefined && acceptedAt < since) || (until !== undefined && acceptedAt >= until)) return false;
  if (number !== undefined && payload.kind !== 'text') return false;
  return deliveries.some((row) => (number === undefined || row.number === number) && isSeen(row, status));
}

function isSeen(row: MemoryDelivery, status: DeliveryStatus | undefined): boolean {
  return status === undefined || shownStatus(row) === status;
}
