import { Injectable } from '@nestjs/common';
import { FreshCache } from '../../accounts/fresh-cache.js';
import { Clock } from '../../common/clock.js';
import { Notifier } from '../../common/notifier.js';
import { type UserSession, UserSessionStore } from './user-session-store.js';

/**
 * Finds open sessions, from a cache that is valid for at most four seconds. The end of a session takes effect at once on its own
 * instance, and on other instances when they are notified, at most five seconds later. The same holds if its account is closed.
 */
@Injectable()
export class UserSessionDirectory {
  private readonly cache: FreshCache<UserSession>;

  constructor(clock: Clock, notifier: Notifier, store: UserSessionStore) {
    this.cache = new FreshCache<UserSession>(clock, notifier, 'user', (id) => store.find(id));
  }

  /**
   * Returns a session, or undefined if it has ended. It returns a promise only if the session is not cached. The promise rejects
   * if the storage does not answer.
   */
  find(id: string): UserSession | undefined | Promise<UserSession | undefined> {
    return this.cache.get(id);
  }

  /** Forgets a session. Call it after a session was ended on this instance. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}
