import { setImmediate as pause } from 'node:timers/promises';
import type { Account, Signature, StoredApiKey } from '../../src/accounts/account-store.js';
import {
  HIGHEST_BALANCE,
  type LedgerPosting,
  type PostingAnswer,
  postedBefore,
} from '../../src/billing/ledger-store.js';
import type { Decide, SendDecision } from '../../src/outbox/decide.js';
import { type DeliveryUpdate, nextState } from '../../src/outbox/delivery-state.js';
import type { ClaimOrder, Delivery, DeliveryTransition } from '../../src/outbox/outbox-store.js';
import type { RecordStep } from '../../src/outbox/policy-store.js';
import type { Send } from '../../src/outbox/send.js';
import type { SeenRecords } from '../../src/outbox/send-policy.js';
import type { PhoneMessage } from '../../src/sandbox/phone-store.js';
import type { OptOut, OptOutKey, OptOutSource } from '../../src/sms/opt-out/opt-out-store.js';
import type { Parking } from '../../src/sms/receipts/part-store.js';
import {
  type DatedReceipt,
  mayBeForAnother,
  nextPart,
  receiptKey,
  settlementOfLasting,
  settlementOfParts,
  type TakenSms,
  withTrails,
} from '../../src/sms/receipts/sms-part.js';
import { claimable } from '../../src/storage/memory/claimable.js';
import { insertSend } from '../../src/storage/memory/insert-send.js';
import { MemoryAccountStore } from '../../src/storage/memory/memory-account-store.js';
import { applyChange, toDelivery } from '../../src/storage/memory/memory-delivery.js';
import { MemoryPolicyStore } from '../../src/storage/memory/memory-guard-store.js';
import { MemoryLedgerStore } from '../../src/storage/memory/memory-ledger-store.js';
import { keyOf, MemoryOptOutStore } from '../../src/storage/memory/memory-opt-out-store.js';
import { MemoryOutboxStore } from '../../src/storage/memory/memory-outbox-store.js';
import { MemoryPartStore } from '../../src/storage/memory/memory-part-store.js';
import { MemoryPhoneStore } from '../../src/storage/memory/memory-phone-store.js';
import { seenRecords, writeRecords } from '../../src/storage/memory/memory-records.js';
import { MemoryTables } from '../../src/storage/memory/memory-tables.js';
import { MessagingStorage } from '../../src/storage/messaging-storage.js';
import { NaiveMediaStore, NaiveSessionStore } from './naive-session-store.js';

class NaiveAccountStore extends MemoryAccountStore {
  override async createAccount(account: Account): Promise<boolean> {
    const known = await this.findAccount(account.id);
    await pause();
    await super.createAccount(account);
    return known === undefined;
  }

  override async addKey(key: StoredApiKey): Promise<boolean> {
    const known = await this.findKey(key.id);
    await pause();
    await super.addKey(key);
    return known === undefined;
  }

  override async registerSignature(signature: Signature): Promise<Signature> {
    const known = (await this.listSignatures(signature.accountId)).find(({ name }) => name === signature.name);
    await pause();
    await super.registerSignature(signature);
    return known ?? signature;
  }
}

class NaiveLedgerStore extends MemoryLedgerStore {
  override async post(posting: LedgerPosting): Promise<PostingAnswer> {
    const { id, accountId, kind, units, note, at } = posting;
    const balance = this.tables.balance(accountId);
    const known = [id, posting.formerId ?? ''].flatMap((each) => this.tables.entries.get(each) ?? []);
    await pause();
    if (balance === undefined) return 'unknown';
    const answer = postedBefore(posting, known) ?? (balance + units < 0 ? 'refused' : undefined);
    if (answer) return answer;
    if (units > 0 && (this.tables.posted.get(accountId) ?? 0) + units > HIGHEST_BALANCE) return 'over';
    this.tables.book({ id, accountId, kind, units, note, at, messageId: undefined, position: undefined });
    return 'posted';
  }
}

class NaiveOutboxStore extends MemoryOutboxStore {
  override async commit(sends: readonly Send[], rules: Decide): Promise<readonly SendDecision[]> {
    const before = this.balances(sends);
    const { outcomes, accepted, spent, records } = rules(sends, {
      balances: before,
      replies: this.liveReplies(sends),
      records: seenRecords(
        this.tables,
        sends.flatMap(({ guard }) => guard?.keys ?? []),
      ),
    });
    if (accepted.some(({ id }) => this.tables.messages.has(id))) throw new Error('stored already');
    await pause();
    for (const send of accepted) insertSend(this.tables, send);
    writeRecords(this.tables, records);
    for (const [id, units] of spent) this.tables.balances.set(id, (before.get(id) ?? 0) - units);
    return outcomes;
  }

  override async claim(order: ClaimOrder): Promise<readonly Delivery[]> {
    const rows = claimable(this.tables, order);
    await pause();
    return rows.map((row) => {
      const doubtful = row.doubtful || row.status === 'sending';
      Object.assign(row, { status: 'sending', attempt: row.attempt + 1, dueAt: order.leaseUntil, doubtful });
      return toDelivery(row);
    });
  }

  override async settle(settlements: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    const moved: DeliveryTransition[] = [];
    for (const settlement of settlements) {
      const row = this.tables.messages.get(settlement.messageId)?.deliveries[settlement.position];
      const change = row && nextState(row, settlement);
      const before = row?.status;
      await pause();
      if (!change) continue;
      const movement = applyChange(this.tables, row, change, settlement);
      if (change.status !== before) moved.push(movement);
    }
    return moved;
  }
}

class NaiveGuardStore extends MemoryPolicyStore {
  override async change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T> {
    const { result, changes } = step(seenRecords(this.tables, keys));
    await pause();
    writeRecords(this.tables, changes);
    return result;
  }
}

class NaivePhoneStore extends MemoryPhoneStore {
  override async receive(messages: readonly PhoneMessage[]): Promise<void> {
    for (const message of messages) {
      const known = await this.messages(message.to);
      await pause();
      if (known.some(({ messageId, channel }) => messageId === message.messageId && channel === message.channel))
        continue;
      this.tables.phones.set(`${this.tables.phones.size}`, message);
    }
  }
}

class NaivePartStore extends MemoryPartStore {
  override async record(taken: readonly TakenSms[], now: number): Promise<readonly DeliveryTransition[]> {
    const waited = this.waitingFor(taken, now);
    await pause();
    await super.record(taken, Number.POSITIVE_INFINITY);
    const { settlements, unmatched } = this.apply(waited, now);
    for (const receipt of waited)
      if (!unmatched.includes(receipt)) this.tables.parts.parked.delete(receiptKey(receipt));
    return this.outbox.settle(withTrails(settlements, taken));
  }

  override async receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly DeliveryTransition[]> {
    const moved: DeliveryTransition[] = [];
    for (const receipt of receipts) moved.push(...(await this.receiveOne(receipt, parking)));
    return moved;
  }

  private async receiveOne(receipt: DatedReceipt, parking: Parking): Promise<readonly DeliveryTransition[]> {
    const { parts } = this.tables;
    const part = parts.find(receipt);
    const all = part ? parts.of(part.messageId, part.position) : [];
    await pause();
    if (!part) {
      this.park([receipt], parking);
      return [];
    }
    const next = nextPart(part, receipt);
    if (!next) {
      if (mayBeForAnother(part, receipt) && receipt.at > parts.lastWord(receipt)) this.park([receipt], parking);
      return this.outbox.settle(settlementOfLasting(all, receipt, parking.now));
    }
    parts.replace(next);
    const after = all.map((each) => (each.attempt === next.attempt && each.part === next.part ? next : each));
    return this.outbox.settle(settlementOfParts(after, receipt, parking.now));
  }
}

class NaiveOptOutStore extends MemoryOptOutStore {
  override async add(entries: readonly OptOut[]): Promise<readonly OptOut[]> {
    const added = entries.filter((entry) => !this.tables.optOuts.has(keyOf(entry)));
    await pause();
    for (const entry of added) this.tables.optOuts.set(keyOf(entry), entry);
    return added;
  }

  override async remove(keys: readonly OptOutKey[], source?: OptOutSource): Promise<readonly OptOut[]> {
    const entries = keys.flatMap((key) => this.tables.optOuts.get(keyOf(key)) ?? []);
    const removed = entries.filter((entry) => source === undefined || entry.source === source);
    await pause();
    for (const entry of removed) this.tables.optOuts.delete(keyOf(entry));
    return removed;
  }
}

/**
 * A storage as one writes it on the first day: it reads, thinks for a moment, and writes what it has concluded from what
 * may no longer be so. One after the other everything works. It shows that the contract's race tests can fail.
 */
export class NaiveStorage extends MessagingStorage {
  override readonly accounts = new NaiveAccountStore();
  readonly tables = new MemoryTables(this.accounts);
  override readonly outbox = new NaiveOutboxStore(this.tables);
  override readonly ledger = new NaiveLedgerStore(this.tables);
  override readonly phones = new NaivePhoneStore(this.tables);
  override readonly policies = new NaiveGuardStore(this.tables);
  override readonly parts = new NaivePartStore(this.tables, this.outbox);
  override readonly sessions = new NaiveSessionStore(this.tables);
  override readonly media = new NaiveMediaStore(this.tables);
  override readonly optOuts = new NaiveOptOutStore(this.tables);

  override async start(): Promise<void> {}

  override async stop(): Promise<void> {}
}
