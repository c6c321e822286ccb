import { Injectable } from '@nestjs/common';
import type { Cancellation } from '../common/concurrency/async.js';
import { Batcher } from '../common/concurrency/batcher.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { Notifier, publishNotice } from '../common/notifier.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { decide, type RefusalCode, type SendDecision, secondsToMidnight } from './accept/decide.js';
import { TOGETHER } from './accept/due-times.js';
import { refusedTransitions } from './accept/refusals.js';
import type { Send } from './accept/send.js';
import { deliveriesOf } from './accept/send-deliveries.js';
import { AdaptiveBatchSize } from './delivery/batch-size.js';
import type { DirectDelivery } from './delivery/hand-over.js';
import type { DeliveryUpdate } from './delivery-state.js';
import { type CommitOutcome, type ExpiryOrder, type WaitFor } from './outbox-records.js';
import { OutboxStore } from './outbox-store.js';
import type { RescheduleOrder } from './schedule/reschedule.js';
import type { WaitingExpiryOrder } from './schedule/validity.js';
import type { CanceledSlice, CancelOrder } from './settle/cancel.js';

/** An accepted send, and whether an earlier request caused it. */
export interface Acceptance {
  /** The answer to the caller, the same as to the first request. */
  readonly reply: object;
  /** True: an earlier request with the same Idempotency-Key was accepted; this one sends and charges nothing. */
  readonly replayed: boolean;
}

/** Options of `Outbox.accept`. */
export interface AcceptOptions {
  /**
   * An open transaction of the host that stores the send. The message is sent after the commit. A rollback undoes the
   * send.
   */
  readonly host?: HostTransaction | undefined;
  /**
   * Aborted if the caller no longer waits. If no transaction has begun to store the send by then, it is dropped and
   * nothing is charged.
   */
  readonly signal?: Cancellation | undefined;
}

interface Waiting {
  readonly send: Send;
  readonly signal: Cancellation | undefined;
  /** How often the send has waited for records of its policy. */
  readonly waits: number;
}

/**
 * The maximum number of sends in one commit. `BATCH_RECIPIENTS` is the maximum for the recipients of all its sends. A
 * larger send is committed by itself.
 */
const BATCH_SENDS = 256;
const BATCH_RECIPIENTS = 5000;

/** A policy record counts as this many recipients, because PostgreSQL keeps a lock in memory for each new record. */
const RECORD_WEIGHT = 8;

/** How often a send waits for its records if other transactions lock them again each time. */
const MAX_WAITS = 50;

/** How many locked accounts are waited for at a time, each on a connection of its own. */
const HELD_ACCOUNTS = 4;

const BATCH_LIMITS = { weightOf, maxWeight: BATCH_RECIPIENTS, maxItems: BATCH_SENDS };

const REFUSALS = {
  insufficient_balance: 'error.insufficient_balance',
  idempotency_mismatch: 'error.idempotency_mismatch',
  account_not_found: 'error.account_not_found',
  key_recipient: 'error.key_recipient',
  confirmation_needed: 'error.confirmation_needed',
  key_cap: 'error.key_cap',
} as const satisfies Record<RefusalCode, string>;

function refusalOf(outcome: SendDecision & { kind: 'refused' }, { at }: Send): MessagingError {
  if (outcome.why === 'key_cap') return new MessagingError(REFUSALS.key_cap, {}, secondsToMidnight(at));
  if (outcome.why !== 'policy') return new MessagingError(REFUSALS[outcome.why]);
  const { code, values, retryAfter } = outcome.refusal;
  return new MessagingError(code, values, retryAfter);
}

/**
 * Accepts every send that costs money. Sends that wait at the same time are committed together, so that they share one
 * write to the disk. When `accept` resolves, the send is stored and charged, and will be delivered.
 *
 * @example
 * ```ts
 * const send: Send = {
 *   id: ids.next(),
 *   accountId,
 *   channel: 'sms',
 *   sender: 'INFOS',
 *   payload: { kind: 'text', text: 'Bonjour' },
 *   recipients: [{ number: '22670000000', units: 1 }],
 *   at: clock.now(),
 *   reply: { success: true },
 * };
 * const { reply, replayed } = await outbox.accept(send);
 * ```
 */
@Injectable()
export class Outbox {
  private readonly commits = new Batcher<Waiting, SendDecision>({
    ...BATCH_LIMITS,
    perform: (batch) => this.commit(batch, 'none'),
    gathering: new AdaptiveBatchSize(),
  });
  /** Commits sends of accounts that another transaction has locked. These commits wait for the account. */
  private readonly held = new Batcher<Waiting, SendDecision>({
    ...BATCH_LIMITS,
    perform: (batch) => this.commit(batch, 'accounts'),
    keyOf: ({ send }) => send.accountId,
    concurrency: HELD_ACCOUNTS,
  });

  /** The workers of this process that take deliveries directly, by the name of their channel. */
  private readonly direct = new Map<string, DirectDelivery>();

  constructor(
    private readonly store: OutboxStore,
    private readonly notifier: Notifier,
    private readonly events: MessagingEvents,
  ) {}

  /** How many sends wait for a commit now. */
  get waiting(): number {
    return this.commits.size + this.held.size;
  }

  /**
   * Charges, stores and queues a send: all of this happens, or nothing.
   *
   * @throws MessagingError `error.key_recipient`, `error.confirmation_needed`, `error.key_cap` (with `retryAfter`), `error.insufficient_balance`, `error.idempotency_mismatch`,
   *   `error.account_not_found`, `error.storage_unavailable`, and the code with which the send's policy refuses it
   * @throws the reason of `signal` if the send was dropped
   */
  async accept(send: Send, { host, signal }: AcceptOptions = {}): Promise<Acceptance> {
    if (signal?.aborted) throw signal.reason;
    const outcome = host ? await this.acceptIn(host, send) : await this.commits.add({ send, signal, waits: 0 }, signal);
    if (outcome.kind === 'refused') throw refusalOf(outcome, send);
    return { reply: outcome.reply, replayed: outcome.kind === 'replayed' };
  }

  /**
   * Stores updates of deliveries, from attempts or reports, and emits `message.*` for each delivery whose state has
   * changed. Resolves when they are durable.
   * @throws StorageUnavailableError
   */
  async settle(updates: readonly DeliveryUpdate[]): Promise<void> {
    const transitions = await this.store.settle(updates);
    this.events.publishTransitions(transitions);
  }

  /**
   * Moves overdue deliveries to `unknown` and emits `message.unknown` for each; resolves with their number.
   * @throws StorageUnavailableError
   */
  async expire(order: ExpiryOrder): Promise<number> {
    const transitions = await this.store.expire(order);
    this.events.publishTransitions(transitions);
    return transitions.length;
  }

  /**
   * Fails waiting recipients whose validity has ended, refunds them, and emits `message.failed` for each.
   * @returns whether there may be others
   * @throws StorageUnavailableError
   */
  async expireWaiting(order: WaitingExpiryOrder): Promise<boolean> {
    const { transitions, more } = await this.store.expireWaiting(order);
    this.events.publishTransitions(transitions);
    return more;
  }

  /** Lets a worker of this process take the deliveries of a channel directly, from now on. */
  deliverDirectly(channel: string, direct: DirectDelivery): void {
    this.direct.set(channel, direct);
  }

  /**
   * Cancels a slice of a message's waiting recipients, and emits `message.canceled` for each.
   * @throws StorageUnavailableError
   */
  async cancel(order: CancelOrder): Promise<CanceledSlice> {
    const slice = await this.store.cancel(order);
    this.events.publishTransitions(slice.transitions);
    return slice;
  }

  /**
   * Changes when the recipients of a message are handed over, and wakes the workers if this changes something.
   * @throws MessagingError `error.already_sending`, `error.window_empty`
   * @throws StorageUnavailableError
   */
  async reschedule(order: RescheduleOrder): Promise<void> {
    if (await this.store.reschedule(order)) publishNotice(this.notifier, 'due', order.message.channel);
  }

  private emitRefusals(send: Send): void {
    this.events.publishTransitions(refusedTransitions(send));
  }

  private async acceptIn(host: HostTransaction, send: Send): Promise<SendDecision> {
    const [outcome] = await this.store.commit([send], decide, host);
    if (!outcome || outcome.kind === 'busy')
      throw new StorageUnavailableError('The account is locked by another transaction.');
    if (outcome.kind === 'accepted') {
      this.store.whenCommitted(host, () => {
        publishNotice(this.notifier, 'due', send.channel);
        this.emitRefusals(send);
      });
    }
    return outcome;
  }

  private async commit(
    batch: readonly Waiting[],
    waitFor: WaitFor,
  ): Promise<readonly (SendDecision | Promise<SendDecision>)[]> {
    const sends = batch.map(({ send }) => this.leased(send));
    const outcomes = await this.commitLeased(sends, waitFor);
    const channels = new Set<string>();
    const decisions = outcomes.flatMap((outcome, index) => {
      const item = batch[index];
      if (!item) return [];
      if (outcome.kind === 'accepted') {
        if (sends[index]?.leaseUntil === undefined) channels.add(item.send.channel);
        this.emitRefusals(item.send);
      }
      return [this.decisionOf(item, outcome)];
    });
    for (const channel of channels) publishNotice(this.notifier, 'due', channel);
    return decisions;
  }

  /** Gives a send a lease if a worker of this process can deliver it at once. */
  private leased(send: Send): Send {
    const direct = this.direct.get(send.channel);
    if (!direct || !mayBeDirect(send)) return send;
    const leaseUntil = direct.reserve(send.recipients.length);
    return leaseUntil === undefined ? send : { ...send, leaseUntil };
  }

  /** Commits sends, and hands the accepted ones with a lease to their workers. */
  private async commitLeased(sends: readonly Send[], waitFor: WaitFor): Promise<readonly CommitOutcome[]> {
    let outcomes: readonly CommitOutcome[] = [];
    try {
      outcomes = await this.store.commit(sends, decide, undefined, waitFor);
      return outcomes;
    } finally {
      for (const [index, send] of sends.entries()) {
        const { channel, leaseUntil, recipients } = send;
        const direct = leaseUntil === undefined ? undefined : this.direct.get(channel);
        if (!direct || leaseUntil === undefined) continue;
        if (outcomes[index]?.kind === 'accepted') direct.receive(deliveriesOf(send), leaseUntil);
        else direct.release(recipients.length);
      }
    }
  }

  /** The decision on a send. A `busy` send is committed again when its locks are free. */
  private decisionOf(item: Waiting, outcome: CommitOutcome): SendDecision | Promise<SendDecision> {
    if (outcome.kind !== 'busy') return outcome;
    return outcome.records ? this.waitForRecords(item, outcome.records) : this.held.add(item, item.signal);
  }

  /**
   * Waits for records that another transaction has locked, without a lock on the send's account. Then it puts the send
   * back into the queue. If the commit itself waited, it would keep its account locked and delay the account's other
   * sends, because every commit locks its accounts first.
   */
  private async waitForRecords(item: Waiting, records: readonly string[]): Promise<SendDecision> {
    if (item.waits >= MAX_WAITS)
      throw new StorageUnavailableError('The records of the send are locked by other transactions.');
    await this.store.whenFree(records);
    return this.commits.add({ ...item, waits: item.waits + 1 }, item.signal);
  }
}

/**
 * Whether a worker may take a send directly. A policy may still change the payload, a lane has an order, and a schedule a
 * time. A larger send is due in groups.
 */
function mayBeDirect({ lane, policy, schedule, dueAt, recipients }: Send): boolean {
  return (
    lane === undefined &&
    policy === undefined &&
    schedule === undefined &&
    dueAt === undefined &&
    recipients.length <= TOGETHER &&
    recipients.every((recipient) => recipient.refused === undefined && recipient.dueAt === undefined)
  );
}

function weightOf({ send: { recipients, policy } }: Waiting): number {
  return recipients.length + (policy?.keys.length ?? 0) * RECORD_WEIGHT;
}
