import type { Page, PageRequest } from '../../common/page.js';
import type { SessionStatus, StoredSession } from '../../msgapp/sessions/session-store.js';

/** The filter of a listing. */
export interface ManagedSessionQuery extends PageRequest {
  readonly accountId?: string | undefined;
  readonly status?: SessionStatus | undefined;
}

/** Reads the linked numbers of all accounts. */
export abstract class ManagedSessionStore {
  /**
   * Sessions of all channels, newest first; `after` is the id of the last one of the previous page.
   * @throws MessagingError `error.invalid_cursor`
   * @throws StorageUnavailableError
   */
  abstract list(query: ManagedSessionQuery): Promise<Page<StoredSession>>;

  /** @throws StorageUnavailableError */
  abstract find(id: string): Promise<StoredSession | undefined>;
}
