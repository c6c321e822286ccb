import { Injectable } from '@nestjs/common';
import { FreshCache } from '../../accounts/fresh-cache.js';
import { Clock } from '../../common/clock.js';
import { Batcher } from '../../common/concurrency/batcher.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { Notifier } from '../../common/notifier.js';
import { RetentionSettings } from '../../outbox/retention/retention-options.js';
import { namesOf } from './erased-numbers.js';
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
 * Looks up numbers on the suppression list. The signatures with entries are cached per account for at most four seconds. The
 * database is queried for those signatures only. Look-ups that wait at the same time share a query.
 */
@Injectable()
export class OptOutDirectory {
  /** The signatures with entries, and whether their numbers may be keyed hashes. */
  private readonly lists: FreshCache<ReadonlyMap<string, boolean>>;
  private readonly lookup: OptOutLookup;

  constructor(
    clock: Clock,
    private readonly store: OptOutStore,
    notifier: Notifier,
    private readonly retention: RetentionSettings,
  ) {
    this.lookup = new OptOutLookup(store);
    this.lists = new FreshCache<ReadonlyMap<string, boolean>>(clock, notifier, 'opt-out', async (accountId) => {
      const signatures = await store.signatures(accountId);
      if (signatures.length === 0) return undefined;
      const hashed = retention.keys.length === 0 ? [] : await store.hashedSignatures(accountId);
      return new Map(signatures.map((signature) => [signature, hashed.includes(signature)]));
    });
  }

  /**
   * Returns the numbers that have opted out of this signature of this account. It returns a promise only if it must read the
   * database.
   * @throws StorageUnavailableError
   */
  among(
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    const own = this.lists.get(accountId);
    const all = this.lists.get(EVERY_ACCOUNT);
    const isKnown = !(own instanceof Promise || all instanceof Promise);
    if (isKnown && !own?.has(signature) && !all?.has(signature)) return NO_NUMBERS;
    return this.afterReading(accountId, signature, numbers);
  }

  /** Does the same as `among` within an open transaction of the host. It reads the database without the cache. */
  async amongWithin(
    host: HostTransaction,
    accountId: string,
    signature: string,
    numbers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const some of chunksOf(numbers)) {
      const named = this.byName(some, true);
      const keys = [accountId, EVERY_ACCOUNT].flatMap((id) => keysOf(id, signature, [...named.keys()]));
      for (const { number } of await this.store.among(keys, host)) addAll(found, named.get(number));
    }
    return found;
  }

  /** Returns the recipients that have opted out of the sender of their message. */
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
    const used: UsedList[] = [];
    for (const id of [accountId, EVERY_ACCOUNT]) {
      const hashed = (await this.lists.get(id))?.get(signature);
      if (hashed !== undefined) used.push({ id, hashed });
    }
    return used.length === 0 ? NO_NUMBERS : this.lookUp(used, signature, numbers);
  }

  private async lookUp(
    lists: readonly UsedList[],
    signature: string,
    numbers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    // The numbers are looked up in chunks, because each number of a list with hashes must be hashed.
    for (const some of chunksOf(numbers)) {
      const plain = this.byName(some, false);
      const named = lists.some(({ hashed }) => hashed) ? this.byName(some, true) : plain;
      const keys = lists.flatMap(({ id, hashed }) => keysOf(id, signature, [...(hashed ? named : plain).keys()]));
      for (const name of await this.lookup.numbers(keys)) addAll(found, named.get(name));
    }
    return found;
  }

  /** Returns numbers by the names under which a list may have them. Spellings of one phone share their names. */
  private byName(numbers: readonly string[], hashed: boolean): ReadonlyMap<string, readonly string[]> {
    const keys = hashed ? this.retention.keys : [];
    const named = new Map<string, string[]>();
    for (const number of numbers) {
      for (const name of namesOf(number, keys)) {
        const others = named.get(name);
        if (others) others.push(number);
        else named.set(name, [number]);
      }
    }
    return named;
  }
}

/** A list to look numbers up in. */
interface UsedList {
  readonly id: string;
  readonly hashed: boolean;
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

function addAll(found: Set<string>, numbers: readonly string[] = []): void {
  for (const number of numbers) found.add(number);
}

function keysOf(accountId: string, signature: string, numbers: readonly string[]): OptOutKey[] {
  return numbers.map((number) => ({ accountId, signature, number }));
}

/** The maximum number of keys per query. */
const MAX_KEYS = 5000;

/** Queries the suppression list. Look-ups that wait while a query runs share the next query. */
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

  /** Returns the numbers of the keys that are on the list. */
  async numbers(keys: readonly OptOutKey[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const part of chunksOf(keys)) for (const number of await this.lookups.add(part)) found.add(number);
    return found;
  }
}

/** Cuts a list of keys, or of numbers that become keys, into chunks of one query each. */
function* chunksOf<T>(keys: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < keys.length; from += MAX_KEYS) yield keys.slice(from, from + MAX_KEYS);
}

function nameOf({ accountId, signature, number }: OptOutKey): string {
  return `${number} ${accountId} ${signature}`;
}
