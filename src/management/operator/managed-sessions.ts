import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { MessagingError } from '../../common/errors.js';
import { isId } from '../../common/ids.js';
import { checkAccountId } from '../../common/inputs.js';
import { cursorOf } from '../../common/listing/list-query.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import { SESSION_STATUSES } from '../../events/session-status.js';
import { channelToken } from '../../msgapp/channel-token.js';
import { SessionManager } from '../../msgapp/sessions/session-manager.js';
import type { StoredSession } from '../../msgapp/sessions/session-records.js';
import { type ListQuery, pageOf } from '../list-query.js';
import type { ManagedSessionPage, ManagedSessionView } from './managed-session.api.js';
import { ManagedSessionStore } from './managed-session-store.js';
import { type OperatorCallOptions, operatorCall } from './operator-call.js';

/** The filter of a listing. */
export interface SessionListQuery extends ListQuery {
  readonly account?: string | undefined;
  readonly status?: string | undefined;
}

/** Manages the linked numbers of all accounts and channels, for operators. */
@Injectable()
export class ManagedSessions {
  constructor(
    private readonly store: ManagedSessionStore,
    private readonly modules: ModuleRef,
  ) {}

  /** @throws MessagingError `error.invalid_cursor`, `error.field_invalid` */
  async list(query: SessionListQuery = {}): Promise<ManagedSessionPage> {
    const page = pageOf(query, isId);
    const { account: accountId, status: asked } = query;
    if (accountId !== undefined) checkAccountId(accountId);
    const status = SESSION_STATUSES.find((each) => each === asked);
    if (asked !== undefined && status === undefined)
      throw new MessagingError('error.field_invalid', { field: 'status' });
    const { items, next } = await this.store.list({ ...page, accountId, status });
    return { items: items.map(sessionView), next_cursor: cursorOf(next) };
  }

  /**
   * Unlinks a number and deletes its credentials. It has no effect on a session that is over.
   * @throws MessagingError `error.session_not_found`, also for a session of a channel that this application does not have
   */
  async unlink(id: string, options: OperatorCallOptions = {}): Promise<void> {
    const { by } = operatorCall('an unlinking', options);
    const session = isId(id) ? await this.store.find(id) : undefined;
    const sessions = session && this.managerOf(session);
    if (!session || !sessions) throw new MessagingError('error.session_not_found');
    await sessions.logout(session.accountId, id, by);
  }

  private managerOf({ channel }: StoredSession): SessionManager | undefined {
    try {
      return this.modules.get<SessionManager>(channelToken(SessionManager, channel), { strict: false });
    } catch {
      return undefined;
    }
  }
}

function sessionView(session: StoredSession): ManagedSessionView {
  const { id, accountId, channel, number, status, reason, createdAt, connectedAt, updatedAt } = session;
  return {
    id,
    account: accountId,
    channel,
    number: number ?? null,
    status,
    reason: reason ?? null,
    created_at: isoOf(createdAt),
    connected_at: isoOf(connectedAt),
    updated_at: isoOf(updatedAt),
  };
}
