import { type FactoryProvider, Injectable, type InjectionToken } from '@nestjs/common';
import { isContactId } from '../../common/contact-id.js';
import { checkNumber } from '../../common/inputs.js';
import { spellingsOf } from '../../common/phone-numbers/phone-spellings.js';
import { contentRemover } from './removed-payload.js';
import { RetentionSettings } from './retention-options.js';
import { type ErasableDelivery, type Walked } from './retention-records.js';
import { RetentionStore } from './retention-store.js';

/** Erases the data that a capability stores about a number besides deliveries. Running it twice must be safe. */
export interface ErasureRule {
  /** The name of the erased items in `ErasureResult`. A rule replaces an earlier one of the same name. */
  readonly what: string;
  /**
   * Returns the keys of policy records that belong to a delivery. They are removed with its number. It must have no
   * side effects.
   */
  readonly records?: (delivery: ErasableDelivery) => readonly string[];
  /**
   * Removes data that is stored separately for messages, such as files. Called before the number of the messages is
   * erased.
   */
  readonly messages?: (deliveries: readonly ErasableDelivery[]) => Promise<void>;
  /**
   * Removes all other data of some accounts, and returns the number of removed items. It is called until all accounts
   * were passed, at least once.
   */
  readonly accounts?: (number: string, accountIds: readonly string[]) => Promise<number>;
  /**
   * Returns the other names under which data of a person is stored, such as the contacts that have a number. They are erased
   * like the number. It must have no side effects, and is called before anything is erased.
   */
  readonly aliases?: (name: string) => Promise<readonly string[]>;
  /** Removes all other data in one call, and returns the numbers of removed items by name. */
  readonly everywhere?: (number: string) => Promise<Readonly<Record<string, number>>>;
}

/** The rules of the mounted capabilities. */
@Injectable()
export class ErasureRules {
  private readonly byName = new Map<string, ErasureRule>();

  add(rule: ErasureRule): void {
    this.byName.set(rule.what, rule);
  }

  all(): readonly ErasureRule[] {
    return [...this.byName.values()];
  }
}

/**
 * Provides a rule. `ruleOf` makes it from the providers that `inject` names. A capability lists it among its providers.
 */
export function provideErasure<S extends readonly unknown[]>(
  ruleOf: (...injected: S) => ErasureRule,
  inject: { readonly [K in keyof S]: InjectionToken<S[K]> },
): FactoryProvider<void> {
  return {
    provide: Symbol(ruleOf.name),
    useFactory: (rules: ErasureRules, ...injected: S) => rules.add(ruleOf(...injected)),
    inject: [ErasureRules, ...inject],
  };
}

/** The result of `ErasureService.erase`. All fields are counts. */
export interface ErasureResult {
  /** Deliveries whose number was removed, with their parts and histories. */
  readonly deliveries: number;
  /** Messages whose content was removed, because they had no other number. */
  readonly messages: number;
  /** Deliveries that were kept, because they are not complete. Erase the number again after they have ended. */
  readonly open: number;
  /** Replies to Idempotency-Keys in which the number was replaced. */
  readonly replies: number;
  /**
   * The counts of the capabilities' rules: `codes`, `events`, `receipts`, `inboundParts`, `routeRecipients`, `optOuts`, `optOutsLeft`,
   * `received`, `contacts`, `addresses`, `phones`.
   */
  readonly [what: string]: number;
}

/** How many rows one step of a walk reads. The constant below is the number of accounts in one step. */
const ROWS = 2000;
const ACCOUNTS = 100;

/** The maximum number of deliveries that one transaction erases. */
const AT_ONCE = 50;

/**
 * Erases what is stored about a phone number, for requests by its owner. It has no HTTP route.
 *
 * @example
 * ```ts
 * const { deliveries, open } = await erasure.erase('22670000000');
 * ```
 */
@Injectable()
export class ErasureService {
  constructor(
    private readonly store: RetentionStore,
    private readonly rules: ErasureRules,
    private readonly settings: RetentionSettings,
  ) {}

  /**
   * Removes the number from deliveries and replies. It also removes texts that no other number got, histories, parts,
   * receipts, files, records of codes, and messages of the sandbox's phones. Ids, units and the ledger stay. An opt-out
   * remains valid under a keyed hash of the number (`retention.secret`).
   *
   * All spellings of the phone's number are erased. The call works in many short transactions and reads all recipients
   * once for each spelling; most phones have one. If it is interrupted, it has erased only a part: call it again. Sends
   * that are accepted while it runs may stay.
   *
   * @param number E.164 digits without the plus sign, or a contact (`ct_…`) of a messaging app. A contact is erased with its number,
   * if that is known, and a number with its contacts
   * @returns the counts of erased items; a second call finds nothing
   * @throws MessagingError `error.invalid_number`, `error.storage_unavailable`
   */
  async erase(number: string): Promise<ErasureResult> {
    if (!isContactId(number)) checkNumber(number);
    const counts = new Map<string, number>();
    for (const spelling of await this.namesOf(number)) {
      await this.eraseSpelling(spelling, (what, added) => counts.set(what, (counts.get(what) ?? 0) + added));
    }
    return { deliveries: 0, messages: 0, open: 0, replies: 0, ...Object.fromEntries(counts) };
  }

  /** Returns all names of a person: the spellings of the number, and the contacts. */
  private async namesOf(number: string): Promise<ReadonlySet<string>> {
    const names = new Set(spellingsOf(number));
    // A set also passes the names that are added meanwhile.
    for (const name of names) {
      for (const { aliases } of this.rules.all()) {
        for (const alias of (await aliases?.(name)) ?? []) for (const each of spellingsOf(alias)) names.add(each);
      }
    }
    return names;
  }

  private async eraseSpelling(number: string, count: (what: string, added: number) => void): Promise<void> {
    for await (const found of pages((after) => this.store.deliveriesTo(number, after, ROWS))) {
      const ended = found.filter(({ open }) => !open);
      count('open', found.length - ended.length);
      for (let from = 0; from < ended.length; from += AT_ONCE) {
        count('messages', await this.eraseEnded(number, ended.slice(from, from + AT_ONCE)));
      }
      count('deliveries', ended.length);
    }
    for await (const found of pages((after) => this.store.eraseReplies(number, after, ROWS))) {
      count('replies', found.length);
    }
    for await (const ids of pages((after) => this.store.accounts(after, ACCOUNTS))) {
      for (const { what, accounts } of this.rules.all()) count(what, (await accounts?.(number, ids)) ?? 0);
    }
    for (const { everywhere } of this.rules.all()) {
      for (const [what, erased] of Object.entries((await everywhere?.(number)) ?? {})) count(what, erased);
    }
  }

  private async eraseEnded(number: string, ended: readonly ErasableDelivery[]): Promise<number> {
    const rules = this.rules.all();
    for (const rule of rules) await rule.messages?.(ended.filter(({ recipients }) => recipients === 1));
    const records = ended.flatMap((delivery) => rules.flatMap((rule) => rule.records?.(delivery) ?? []));
    return this.store.eraseDeliveries(number, ended, records, contentRemover(this.settings.keys[0]));
  }
}

/** Calls `step` until the end of the walk. Other work can run between two steps. */
export async function* pages<T>(step: (after: string) => Promise<Walked<T>>): AsyncGenerator<readonly T[]> {
  let after: string | undefined = '';
  while (after !== undefined) {
    const { found, next }: Walked<T> = await step(after);
    yield found;
    after = next;
    await new Promise(setImmediate);
  }
}
