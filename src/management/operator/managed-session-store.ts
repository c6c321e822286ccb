import type { Page, PageRequest } from '../../common/listing/page.js';
import type { SessionStatus } from '../../events/session-status.js';
import type { StoredSession } from '../../msgapp/sessions/session-records.js';
import { SESSION, toSession } from '../../msgapp/sessions/session-rows.js';
import type { Database } from '../../storage/engine/database.js';
import { rowsOf } from '../../storage/engine/operation.js';
import { bytesWith, type Listing, readPage } from '../../storage/read-page.js';

/** The filter of a listing. */
export interface ManagedSessionQuery extends PageRequest {
  readonly accountId?: string | undefined;
  readonly status?: SessionStatus | undefined;
}

/** Reads the linked numbers of all accounts. */
export class ManagedSessionStore {
  constructor(private readonly database: Database) {}

  /**
   * Lists sessions of all channels, newest first. `after` is the id of the last session of the previous page.
   * @throws MessagingError `error.invalid_cursor`
   * @throws StorageUnavailableError
   */
  list({ accountId, status, ...page }: ManagedSessionQuery): Promise<Page<StoredSession>> {
    const filters = accountId === undefined ? [] : [{ sql: 'account_id = ?', params: [accountId] }];
    // The status is no part of the cursor's check, because the session of the cursor may have changed its status meanwhile.
    const shown = status === undefined ? [] : [{ sql: 'status = ?', params: [status] }];
    const listing: Listing<StoredSession> = {
      table: 'messaging_session',
      columns: SESSION.replaceAll('a.', ''),
      bytes: bytesWith('reason'),
      moment: 'created_at',
      filters,
      shown,
      toItem: toSession,
    };
    return this.database.browse(() => readPage(this.database.dialect, listing, page), accountId);
  }

  /** @throws StorageUnavailableError */
  async find(id: string): Promise<StoredSession | undefined> {
    const find = () => rowsOf(`SELECT ${SESSION} FROM messaging_session a WHERE a.id = ?`, id);
    const [row] = await this.database.read(find);
    return row && toSession(row);
  }
}
