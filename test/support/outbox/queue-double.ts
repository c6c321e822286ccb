import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import { type ClaimOrder, type Delivery, type DeliveryTransition } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { Priority } from '../../../src/outbox/queue/priority.api.js';
import { PriorityQueue } from '../../../src/outbox/queue/priority-queue.js';

interface Row {
  readonly delivery: Delivery;
  attempt: number;
  dueAt: number;
}

/** A claim, and how many deliveries it got. */
interface Claim extends Pick<ClaimOrder, 'limit' | 'only'> {
  readonly at: number;
  readonly taken: number;
}

/**
 * The deliveries of one channel in memory: the highest priority first, then in their order. Counts what workers do to
 * them.
 */
export class QueueDouble extends OutboxStore {
  readonly claims: Claim[] = [];
  /** Deliveries that were queued again, with the reason. */
  readonly putBack: (string | undefined)[] = [];
  /** Deliveries that have ended. */
  readonly done: DeliveryUpdate[] = [];
  /** Deliveries that were claimed, each as often as it was claimed. */
  claimed = 0;
  /** How often a worker asked when the next one is due. */
  looks = 0;
  /** Thrown by the next claims, one each. */
  readonly claimFaults: Error[] = [];
  private readonly due = new PriorityQueue<Row>(({ delivery }) => delivery.priority);
  private readonly rows = new Map<string, Row>();
  private later: Row[] = [];

  /** Adds deliveries that are due; their messages are `<priority> <count>`. */
  add(count: number, priority: Priority = 'bulk', text = 'Bonjour'): void {
    for (let added = 0; added < count; added++) {
      const index = this.rows.size;
      const messageId = `${priority} ${index}`;
      const number = String(22_670_000_000 + index);
      const delivery = {
        messageId,
        position: 0,
        accountId: 'a',
        channel: 'sms',
        lane: undefined,
        priority,
        sender: 'INFOS',
        payload: { kind: 'text', text },
        number,
        attempt: 1,
        acceptedAt: 0,
      };
      const row: Row = { delivery, attempt: 0, dueAt: 0 };
      this.rows.set(messageId, row);
      this.due.push(row);
    }
  }

  override async claim({ limit, now, only }: ClaimOrder): Promise<readonly Delivery[]> {
    const fault = this.claimFaults.shift();
    if (fault) throw fault;
    for (const row of this.later) if (row.dueAt <= now) this.due.push(row);
    this.later = this.later.filter(({ dueAt }) => dueAt > now);
    const batch: Delivery[] = [];
    while (batch.length < limit && this.due.first && (!only || this.due.first.delivery.priority === only)) {
      const row = this.due.shift();
      if (row) batch.push({ ...row.delivery, attempt: ++row.attempt });
    }
    this.claimed += batch.length;
    this.claims.push({ at: now, limit, ...(only ? { only } : {}), taken: batch.length });
    return batch;
  }

  override async settle(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    for (const update of updates) {
      const row = this.rows.get(update.messageId);
      if (update.status !== 'queued') this.done.push(update);
      else if (row) {
        this.putBack.push(update.error);
        if (update.uncounted) row.attempt--;
        row.dueAt = update.dueAt ?? update.at;
        this.later.push(row);
      }
    }
    return [];
  }

  override async expire(): Promise<readonly DeliveryTransition[]> {
    return [];
  }

  override async nextDue(): Promise<number | undefined> {
    this.looks++;
    if (this.due.size > 0) return 0;
    return this.later.length > 0 ? Math.min(...this.later.map(({ dueAt }) => dueAt)) : undefined;
  }

  override commit(): never {
    return unused();
  }

  override replay(): never {
    return unused();
  }

  override keep(): never {
    return unused();
  }

  override forget(): never {
    return unused();
  }

  override find(): never {
    return unused();
  }

  override recipients(): never {
    return unused();
  }

  override firstRecipients(): never {
    return unused();
  }

  override recipientPage(): never {
    return unused();
  }

  override trail(): never {
    return unused();
  }

  override byReference(): never {
    return unused();
  }

  override numbers(): never {
    return unused();
  }

  override list(): never {
    return unused();
  }

  override purgeReplies(): never {
    return unused();
  }

  override keySpending(): never {
    return unused();
  }

  override purgeKeySpending(): never {
    return unused();
  }
}

function unused(): never {
  throw new Error('A worker does not ask for this.');
}
