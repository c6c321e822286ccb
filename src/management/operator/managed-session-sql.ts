import type { Page } from '../../common/page.js';
import { SESSION, toSession } from '../../msgapp/sessions/session-rows.js';
import type { StoredSession } from '../../msgapp/sessions/session-store.js';
import type { Executor } from '../../storage/engine/executor.js';
import { rowsOf } from '../../storage/engine/operation.js';
import { bytesWith, type Listing, readPage } from '../../storage/read-page.js';
import { type ManagedSessionQuery, ManagedSessionStore } from './managed-session-store.js';

/** The linked numbers of all accounts in SQL. */
export class TypeormManagedSessionStore extends ManagedSessionStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override list({ accountId, status, ...page }: ManagedSessionQuery): Promise<Page<StoredSession>> {
    const filters = accountId === undefined ? [] : [{ sql: 'account_id = ?', params: [accountId] }];
    // The session of the cursor may have moved on meanwhile.
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
    return this.executor.browse(() => readPage(this.executor.dialect, listing, page), accountId);
  }

  override async find(id: string): Promise<StoredSession | undefined> {
    const find = () => rowsOf(`SELECT ${SESSION} FROM messaging_session a WHERE a.id = ?`, id);
    const [row] = await this.executor.read(find);
    return row && toSession(row);
  }
}
