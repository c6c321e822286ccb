import type { SessionsView, SessionView } from '../msgapp.api.js';
import type { StoredSession } from './session-records.js';

/**
 * Returns the view of an account's sessions.
 * @param sessions newest first
 * @param wanted the session to show at the top level
 */
export function sessionsView(sessions: readonly StoredSession[], wanted?: StoredSession): SessionsView {
  const top = wanted ?? firstConnected(sessions) ?? sessions[0];
  if (!top) return { status: 'disconnected', sessions: [] };
  const { sessionID, status, number } = viewOf(top);
  return { sessionID, status, number, sessions: sessions.map(viewOf) };
}

/** Returns the connected session that was first connected earliest. */
function firstConnected(sessions: readonly StoredSession[]): StoredSession | undefined {
  return sessions.filter(({ status }) => status === 'connected').sort(byConnection)[0];
}

/** Sorts sessions by the time of their first connection, the earliest first. */
export function byConnection(a: StoredSession, b: StoredSession): number {
  return (a.connectedAt ?? 0) - (b.connectedAt ?? 0) || (a.id < b.id ? -1 : 1);
}

function viewOf({ id, status, number, createdAt, connectedAt, reason }: StoredSession): SessionView {
  return {
    sessionID: id,
    status,
    number: number ?? null,
    created_at: new Date(createdAt).toISOString(),
    connected_at: connectedAt === undefined ? null : new Date(connectedAt).toISOString(),
    reason: reason ?? null,
  };
}
