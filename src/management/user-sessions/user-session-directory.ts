import { Injectable } from '@nestjs/common';
import { FreshCache } from '../../accounts/fresh-cache.js';
import { Clock } from '../../common/clock.js';
import { Notifier } from '../../common/notifier.js';
import { type UserSession, UserSessionStore } from './user-session-store.js';

/**
 * The sessions that go on, from a cache of at most four seconds. The end of one takes effect at once on its own instance, and
 * on all others when they are notified, at most five seconds later; so does the closing of its account.
 */
@Injectable()
export class UserSessionDirectory {
  private readonly cache: FreshCache<UserSession>;

  constructor(clock: Clock, notifier: Notifier, store: UserSessionStore) {
    this.cache = new FreshCache<UserSession>(clock, notifier, 'user', (id) => store.find(id));
  }

  /** The session, undefined where it has ended. A promise only when it is not cached; it rejects without the storage. */
  find(id: string): UserSession | undefined | Promise<UserSession | undefined> {
    return this.cache.get(id);
  }

  /** Must be called after a session was ended on this instance. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}
