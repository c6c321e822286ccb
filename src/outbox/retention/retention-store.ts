import type { Database } from '../../storage/engine/database.js';
import { eraseDeliveriesTo, eraseRepliesTo, findDeliveriesTo, listAccountIds } from './erase.js';
import { AgeWalk, closeMessages, removeContents, removeRecipientsOf, removeTrail, removeVars } from './purge.js';
import { removeRecords } from './removal.js';
import type { RemoveContent } from './removed-payload.js';
import { ErasableDelivery, RetentionOrder, Walked } from './retention-records.js';

/**
 * Removes contents, recipients and histories of deliveries by their age, and everything of one number. The charge of a
 * message is never removed: its row with its units stays, and so does the ledger. A delivery that is not complete is
 * left alone.
 *
 * Ids of messages sort by time (`IdGenerator`), so purges walk the messages in that order and store their progress.
 * Each call does a bounded amount of work in short transactions. An interrupted call can be repeated without harm.
 */
export class RetentionStore {
  private readonly texts: AgeWalk;
  private readonly messages: AgeWalk;

  constructor(private readonly database: Database) {
    this.texts = new AgeWalk(database, 'texts');
    this.messages = new AgeWalk(database, 'messages');
  }

  /**
   * Replaces payloads by the results of `remove`, and removes the values of personal texts.
   * @returns at least `limit` if there may be more to do, else less
   */
  purgeTexts(order: RetentionOrder, remove: RemoveContent): Promise<number> {
    const { dialect } = this.database;
    return this.texts.step(order, function* (closed) {
      // The texts say which messages have values to remove, so they go last.
      if (!(yield* removeVars(dialect, closed, order.limit))) return false;
      yield* removeContents(dialect, closed, remove);
      return true;
    });
  }

  /**
   * Removes recipients with their parts, their trails and the rows that find them by number. The remaining payload of
   * their message has the masked numbers of the first ones.
   *
   * @returns as `purgeTexts`
   */
  purgeMessages(order: RetentionOrder, remove: RemoveContent): Promise<number> {
    const { dialect } = this.database;
    return this.messages.step(
      order,
      (closed) => removeRecipientsOf(dialect, closed, order.limit),
      (closed) => closeMessages(dialect, closed, remove, order.now),
    );
  }

  /**
   * Removes the oldest entries of trails, those from before `before`.
   * @returns how many were removed
   */
  purgeTrail(before: number, limit: number): Promise<number> {
    return this.database.writeAside(() => removeTrail(before, limit));
  }

  /**
   * Finds deliveries to a number among the next `limit` recipients of all messages, in the order of their ids.
   * @param after the `next` of the previous page, '' for the first
   */
  deliveriesTo(number: string, after: string, limit: number): Promise<Walked<ErasableDelivery>> {
    return this.database.browse(() => findDeliveriesTo(this.database.dialect, number, after, limit), undefined);
  }

  /**
   * Removes the number of complete deliveries, with their trails, their parts and `records` (keys of policies), in one
   * transaction. The content of a message is removed with the last of its numbers.
   * @returns the number of messages whose content was removed
   */
  eraseDeliveries(
    number: string,
    deliveries: readonly ErasableDelivery[],
    records: readonly string[],
    remove: RemoveContent,
  ): Promise<number> {
    const { dialect } = this.database;
    return this.database.write(() => eraseDeliveriesTo(dialect, number, deliveries, records, remove));
  }

  /** Removes records of policies by their keys. Returns the number of removed records. */
  eraseRecords(keys: readonly string[]): Promise<number> {
    return this.database.write(() => removeRecords(this.database.dialect, keys));
  }

  /**
   * Replaces a number in the next `limit` replies to Idempotency-Keys. The keys remain valid.
   * @param after as in `deliveriesTo`; `found` names the keys
   */
  eraseReplies(number: string, after: string, limit: number): Promise<Walked<string>> {
    return this.database.write(() => eraseRepliesTo(this.database.dialect, number, after, limit));
  }

  /** The ids of the next `limit` accounts. */
  accounts(after: string, limit: number): Promise<Walked<string>> {
    return this.database.browse(() => listAccountIds(after, limit), undefined);
  }
}
