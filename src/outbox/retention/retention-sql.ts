import type { Executor } from '../../storage/engine/executor.js';
import { eraseDeliveriesTo, eraseRepliesTo, findDeliveriesTo, listAccountIds } from './erase.js';
import { AgeWalk, closeMessages, removeContents, removeRecipientsOf, removeTrail } from './purge.js';
import { removeRecords } from './removal.js';
import type { RemoveContent } from './removed-payload.js';
import { type ErasableDelivery, type RetentionOrder, RetentionStore, type Walked } from './retention-store.js';

/** Removal by age and by number in SQL. */
export class TypeormRetentionStore extends RetentionStore {
  private readonly texts: AgeWalk;
  private readonly messages: AgeWalk;

  constructor(private readonly executor: Executor) {
    super();
    this.texts = new AgeWalk(executor, 'texts');
    this.messages = new AgeWalk(executor, 'messages');
  }

  override purgeTexts(order: RetentionOrder, remove: RemoveContent): Promise<number> {
    const { dialect } = this.executor;
    return this.texts.step(order, function* (closed) {
      yield* removeContents(dialect, closed, remove);
      return true;
    });
  }

  override purgeMessages(order: RetentionOrder, remove: RemoveContent): Promise<number> {
    const { dialect } = this.executor;
    return this.messages.step(
      order,
      (closed) => removeRecipientsOf(dialect, closed, order.limit),
      (closed) => closeMessages(dialect, closed, remove, order.now),
    );
  }

  override purgeTrail(before: number, limit: number): Promise<number> {
    return this.executor.writeAside(() => removeTrail(before, limit));
  }

  override deliveriesTo(number: string, after: string, limit: number): Promise<Walked<ErasableDelivery>> {
    return this.executor.browse(() => findDeliveriesTo(this.executor.dialect, number, after, limit), undefined);
  }

  override eraseDeliveries(
    number: string,
    deliveries: readonly ErasableDelivery[],
    records: readonly string[],
    remove: RemoveContent,
  ): Promise<number> {
    const { dialect } = this.executor;
    return this.executor.write(() => eraseDeliveriesTo(dialect, number, deliveries, records, remove));
  }

  override eraseRecords(keys: readonly string[]): Promise<number> {
    return this.executor.write(() => removeRecords(this.executor.dialect, keys));
  }

  override eraseReplies(number: string, after: string, limit: number): Promise<Walked<string>> {
    return this.executor.write(() => eraseRepliesTo(this.executor.dialect, number, after, limit), undefined);
  }

  override accounts(after: string, limit: number): Promise<Walked<string>> {
    return this.executor.browse(() => listAccountIds(after, limit), undefined);
  }
}
