import { Injectable } from '@nestjs/common';
import { FreshCache } from '../../accounts/fresh-cache.js';
import { Batcher } from '../../common/batcher.js';
import { Clock } from '../../common/clock.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { EVERY_ACCOUNT, type OptOutKey, OptOutStore } from './opt-out-store.js';

/** The reason that a recipient on the suppression list is `failed` with. */
export const OPTED_OUT = 'opted_out';

const NOBODY: ReadonlySet<string> = new Set();

/** A recipient as the outbox knows it. */
interface Addressed {
  readonly accountId: string;
  readonly sender: string;
  readonly number: string;
}

/**
 * Knows who does not want SMS. Under which signatures there is anybody at all is remembered for at most four seconds; under
 * those the database is asked, once for all who ask at the same moment.
 */
@Injectable()
export class OptOutDirectory {
  private readonly lists: FreshCache<ReadonlySet<string>>;
  private readonly lookup: OptOutLookup;

  constructor(
    clock: Clock,
    private readonly store: OptOutStore,
  ) {
    this.lookup = new OptOutLookup(store);
    this.lists = new FreshCache<ReadonlySet<string>>(clock, async (accountId) => {
      const signatures = await store.signatures(accountId);
      return signatures.length === 0 ? undefined : new Set(signatures);
    });
  }

  /**
   * Those of the numbers that want nothing from this account under this signature. A promise only where something has to
   * be looked up, which rejects when storage does not answer.
   */
  among(
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    const lists = [accountId, EVERY_ACCOUNT].map((id) => ({ id, signatures: this.lists.get(id) }));
    const known = lists.every(({ signatures }) => !(signatures instanceof Promise));
    if (!known) return this.afterReading(accountId, signature, numbers);
    const on = lists.filter(({ signatures }) => !(signatures instanceof Promise) && signatures?.has(signature));
    return on.length === 0 ? NOBODY : this.lookup.numbers(on.flatMap(({ id }) => keysOf(id, signature, numbers)));
  }

  /** As `among`, in a transaction that the host has open: there everything is looked up. */
  async amongWithin(
    host: HostTransaction,
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const keys = [accountId, EVERY_ACCOUNT].flatMap((id) => keysOf(id, signature, numbers));
    const found = new Set<string>();
    for (const part of inParts(keys)) {
      for (const { number } of await this.store.among(part, host)) found.add(number);
    }
    return found;
  }

  /** Those of the recipients that want nothing from their senders. */
  async unwanted<R extends Addressed>(recipients: readonly R[]): Promise<ReadonlySet<R>> {
    const unwanted = new Set<R>();
    for (const group of bySender(recipients)) {
      const [first] = group;
      const numbers = group.map(({ number }) => number);
      const found = first ? await this.among(first.accountId, first.sender, numbers) : NOBODY;
      for (const recipient of group) if (found.has(recipient.number)) unwanted.add(recipient);
    }
    return unwanted;
  }

  /** To be called after a change of an account's list on this instance. */
  forget(accountId: string): void {
    this.lists.forget(accountId);
  }

  private async afterReading(
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const on: string[] = [];
    for (const id of [accountId, EVERY_ACCOUNT]) if ((await this.lists.get(id))?.has(signature)) on.push(id);
    return on.length === 0 ? NOBODY : this.lookup.numbers(on.flatMap((id) => keysOf(id, signature, numbers)));
  }
}

function bySender<R extends Addressed>(recipients: readonly R[]): Iterable<readonly R[]> {
  const groups = new Map<string, R[]>();
  for (const recipient of recipients) {
    const key = `${recipient.accountId} ${recipient.sender}`;
    const group = groups.get(key);
    if (group) group.push(recipient);
    else groups.set(key, [recipient]);
  }
  return groups.values();
}

function keysOf(accountId: string, signature: string, numbers: readonly string[]): OptOutKey[] {
  return numbers.map((number) => ({ accountId, signature, number }));
}

/** The most keys that are looked up in one go. */
const TOGETHER = 5000;

/** Looks up who has opted out; lookups that wait for one under way share a query. */
class OptOutLookup {
  private readonly lookups: Batcher<readonly OptOutKey[], readonly string[]>;

  constructor(store: OptOutStore) {
    this.lookups = new Batcher<readonly OptOutKey[], readonly string[]>({
      perform: async (batch) => {
        const found = new Set((await store.among(batch.flat())).map(nameOf));
        return batch.map((keys) => keys.filter((key) => found.has(nameOf(key))).map(({ number }) => number));
      },
      weightOf: (keys) => keys.length,
      maxWeight: TOGETHER,
      isolatesFailures: false,
    });
  }

  /** The numbers of those keys that are on the list. */
  async numbers(keys: readonly OptOutKey[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const part of inParts(keys)) for (const number of await this.lookups.add(part)) found.add(number);
    return found;
  }
}

/** Keys in portions that may be looked up in one go. */
function* inParts(keys: readonly OptOutKey[]): Generator<readonly OptOutKey[]> {
  for (let from = 0; from < keys.length; from += TOGETHER) yield keys.slice(from, from + TOGETHER);
}

function nameOf({ accountId, signature, number }: OptOutKey): string {
  return `${number} ${accountId} ${signature}`;
}
