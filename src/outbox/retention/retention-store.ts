import type { Database } from '../../storage/engine/database.js';
import { eraseDeliveriesTo, eraseRepliesTo, findDeliveriesTo, listAccountIds } from './erase.js';
import { AgeWalk, closeMessages, removeContents, removeRecipientsOf, removeTrail } from './purge.js';
import { removeRecords } from './removal.js';
import type { RemoveContent } from './removed-payload.js';
import { ErasableDelivery, RetentionOrder, Walked } from './retention-records.js';

/**
 * Removes contents, recipients and histories of deliveries by their age, and everything of one number. The charge of a message
 * is never removed: its row with its units stays, as does the ledger. A delivery that is under way is left alone.
 *
 * Ids of messages sort by time (`IdGenerator`), so purges walk the messages in that order and store how far they have come.
 * Each call does a bounded amount of work in short transactions; an interrupted one is repeated without harm.
 */
export class RetentionStore {
  private readonly texts: AgeWalk;
  private readonly messages: AgeWalk;

  constructor(private readonly database: Database) {
    this.texts = new AgeWalk(database, 'texts');
    this.messages = new AgeWalk(database, 'messages');
  }

  /**
   * Replaces payloads by what `remove` leaves of them.
   * @returns at least `limit` when there may be more to do, else less
   */
  purgeTexts(order: RetentionOrder, remove: RemoveContent): Promise<number> {
    const { dialect } = this.database;
    return this.texts.step(order, function* (closed) {
      yield* removeContents(dialect, closed, remove);
      return true;
    });
  }

  /**
   * Removes recipients with all that belongs to them: parts, trail, what finds them by number. What is left of their message
   * has the masked numbers of the first ones.
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
   * Removes the number of deliveries that are not under way, with their trails, parts and `records` (keys of policies), in one
   * transaction. The content of a message goes with the last of its numbers.
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

  /** Removes records of policies by their keys; returns how many there were. */
  eraseRecords(keys: readonly string[]): Promise<number> {
    return this.database.write(() => removeRecords(this.database.dialect, keys));
  }

  /**
   * Replaces a number in the next `limit` replies to Idempotency-Keys; the keys go on to work.
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
