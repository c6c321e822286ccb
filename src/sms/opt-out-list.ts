import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { IdGenerator } from '../common/ids.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { OptOutDirectory } from './opt-out-directory.js';
import { EVERY_ACCOUNT, type OptOut, type OptOutKey, type OptOutSource, OptOutStore } from './opt-out-store.js';

/** Changes the suppression list: at once on this instance, within five seconds on the others; the host is told. */
@Injectable()
export class OptOutList {
  constructor(
    private readonly store: OptOutStore,
    private readonly directory: OptOutDirectory,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** Answers how many were not there before. */
  async add(keys: readonly OptOutKey[], source: OptOutSource): Promise<number> {
    const at = this.clock.now();
    const entries = keys.map((key): OptOut => ({ ...key, id: this.ids.next(), source, at }));
    const added = await this.change(keys, () => this.store.add(entries));
    for (const entry of added) this.events.emit('sms.opted_out', noticeOf(entry));
    return added.length;
  }

  /** With a source only entries that came from it. Answers how many there were. */
  async remove(keys: readonly OptOutKey[], source?: OptOutSource): Promise<number> {
    const removed = await this.change(keys, () => this.store.remove(keys, source));
    for (const entry of removed) this.events.emit('sms.opted_in', noticeOf(entry));
    return removed.length;
  }

  private async change<T>(keys: readonly OptOutKey[], work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // Also when storage failed: it may have done it all the same.
      for (const id of new Set(keys.map(({ accountId }) => accountId))) this.directory.forget(id);
    }
  }
}

function noticeOf({ accountId, signature, number, source }: OptOut) {
  return { accountId: accountId === EVERY_ACCOUNT ? undefined : accountId, signature, number, source };
}
