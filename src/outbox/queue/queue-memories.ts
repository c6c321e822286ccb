import { firstDueOf } from '../accept/due-times.js';
import type { Send } from '../accept/send.js';
import { queueOf } from '../accept/send-inserts.js';
import type { DeliveryUpdate } from '../delivery-state.js';
import type { CommitOutcome, DeliveryTransition } from '../outbox-records.js';
import { QueueMemory } from './queue-memory.js';

/**
 * The memories of the channels from which this process claims. They are updated with everything that this process
 * itself stores in the queues.
 */
export class QueueMemories {
  private readonly channels = new Map<string, QueueMemory>();

  /** @param hasFloors see `QueueMemory` */
  constructor(private readonly hasFloors: boolean) {}

  of(channel: string): QueueMemory {
    let memory = this.channels.get(channel);
    if (!memory) {
      memory = new QueueMemory(this.hasFloors);
      this.channels.set(channel, memory);
    }
    return memory;
  }

  /** Called after sends were committed. */
  accepted(sends: readonly Send[], outcomes: readonly CommitOutcome[]): void {
    if (!this.hasFloors) return;
    for (const [index, send] of sends.entries()) {
      const { channel, priority, leaseUntil } = send;
      if (outcomes[index]?.kind !== 'accepted') continue;
      if (leaseUntil !== undefined) {
        this.channels.get(channel)?.put({ status: 'sending', name: '', due: leaseUntil });
        continue;
      }
      const name = queueOf(send);
      this.channels
        .get(channel)
        ?.put({ status: 'queued', name, priority: priority ?? 'normal', due: firstDueOf(send) });
    }
  }

  /** Called after deliveries were put back or began to wait for a report. */
  settled(updates: readonly DeliveryUpdate[], moved: readonly DeliveryTransition[]): void {
    if (!this.hasFloors) return;
    const sent = new Set<string>();
    const queued = new Map<string, Set<string>>();
    for (const { channel, status, accountId } of moved) {
      if (status === 'sent') sent.add(channel);
      if (status === 'queued') queued.set(channel, (queued.get(channel) ?? new Set([''])).add(accountId));
    }
    for (const channel of sent)
      this.channels.get(channel)?.put({ status: 'sent', name: '', due: firstDue(updates, 'sent') });
    const due = firstDue(updates, 'queued');
    for (const [channel, names] of queued) {
      for (const name of names) this.channels.get(channel)?.put({ status: 'queued', name, due });
    }
  }
}

function firstDue(updates: readonly DeliveryUpdate[], of: 'queued' | 'sent'): number {
  const dues = updates.flatMap(({ status, dueAt, at }) => (status === of && dueAt !== null ? (dueAt ?? at) : []));
  return dues.reduce((first, due) => Math.min(first, due), Number.MAX_SAFE_INTEGER);
}
