import { Injectable } from '@nestjs/common';
import { FreshCache } from '../../accounts/fresh-cache.js';
import { Batcher } from '../../common/batcher.js';
import { Clock } from '../../common/clock.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { EVERY_ACCOUNT, type OptOutKey, OptOutStore } from './opt-out-store.js';

/** The error of a recipient that is `failed` because it is on the suppression list. */
export const OPTED_OUT = 'opted_out';

const NO_NUMBERS: ReadonlySet<string> = new Set();

/** The fields of a recipient that the look-up needs. */
interface Addressed {
  readonly accountId: string;
  readonly sender: string;
  readonly number: string;
}

/**
 * Looks up numbers on the suppression list. The signatures with entries are cached per account for at most four
 * seconds. The database is queried for those signatures only; look-ups that wait at the same time share a query.
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
   * The numbers that have opted out of this signature of this account. A promise only when something has to be read.
   * @throws StorageUnavailableError
   */
  among(
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    const lists = [accountId, EVERY_ACCOUNT].map((id) => ({ id, signatures: this.lists.get(id) }));
    const known = lists.every(({ signatures }) => !(signatures instanceof Promise));
    if (!known) return this.afterReading(accountId, signature, numbers);
    const used = lists.filter(({ signatures }) => !(signatures instanceof Promise) && signatures?.has(signature));
    if (used.length === 0) return NO_NUMBERS;
    return this.lookup.numbers(used.flatMap(({ id }) => keysOf(id, signature, numbers)));
  }

  /** As `among`, within an open transaction of the host; it reads the database without the cache. */
  async amongWithin(
    host: HostTransaction,
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const keys = [accountId, EVERY_ACCOUNT].flatMap((id) => keysOf(id, signature, numbers));
    const found = new Set<string>();
    for (const part of chunksOf(keys)) {
      for (const { number } of await this.store.among(part, host)) found.add(number);
    }
    return found;
  }

  /** The recipients that have opted out of the sender of their message. */
  async optedOut<R extends Addressed>(recipients: readonly R[]): Promise<ReadonlySet<R>> {
    const optedOut = new Set<R>();
    for (const group of bySender(recipients)) {
      const [first] = group;
      const numbers = group.map(({ number }) => number);
      const found = first ? await this.among(first.accountId, first.sender, numbers) : NO_NUMBERS;
      for (const recipient of group) if (found.has(recipient.number)) optedOut.add(recipient);
    }
    return optedOut;
  }

  /** Drops the cached signatures of an account. Call it after a change of its list on this instance. */
  forget(accountId: string): void {
    this.lists.forget(accountId);
  }

  private async afterReading(
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const used: string[] = [];
    for (const id of [accountId, EVERY_ACCOUNT]) if ((await this.lists.get(id))?.has(signature)) used.push(id);
    return used.length === 0 ? NO_NUMBERS : this.lookup.numbers(used.flatMap((id) => keysOf(id, signature, numbers)));
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

/** The maximum number of keys per query. */
const MAX_KEYS = 5000;

/** Queries the suppression list; look-ups that wait while a query runs share the next one. */
class OptOutLookup {
  private readonly lookups: Batcher<readonly OptOutKey[], readonly string[]>;

  constructor(store: OptOutStore) {
    this.lookups = new Batcher<readonly OptOutKey[], readonly string[]>({
      perform: async (batch) => {
        const found = new Set((await store.among(batch.flat())).map(nameOf));
        return batch.map((keys) => keys.filter((key) => found.has(nameOf(key))).map(({ number }) => number));
      },
      weightOf: (keys) => keys.length,
      maxWeight: MAX_KEYS,
      isolatesFailures: false,
    });
  }

  /** The numbers of the keys that are on the list. */
  async numbers(keys: readonly OptOutKey[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const part of chunksOf(keys)) for (const number of await this.lookups.add(part)) found.add(number);
    return found;
  }
}

/** The keys in chunks of one query each. */
function* chunksOf(keys: readonly OptOutKey[]): Generator<readonly OptOutKey[]> {
  for (let from = 0; from < keys.length; from += MAX_KEYS) yield keys.slice(from, from + MAX_KEYS);
}

function nameOf({ accountId, signature, number }: OptOutKey): string {
  return `${number} ${accountId} ${signature}`;
}
