import type { SessionStatus, StoredSession } from './session-records.js';

/** A session as its account sees it. Times in ISO 8601, UTC. */
export interface SessionView {
  readonly sessionID: string;
  readonly status: SessionStatus;
  /** E.164 digits without the plus sign; null before the scan. */
  readonly number: string | null;
  readonly created_at: string;
  readonly connected_at: string | null;
  readonly reason: string | null;
}

/** An account's sessions. The first fields show the requested one, else the first connected one, else the newest. */
export type SessionsView =
  | { readonly status: 'disconnected'; readonly sessions: readonly [] }
  | (Pick<SessionView, 'sessionID' | 'status' | 'number'> & { readonly sessions: readonly SessionView[] });

/** A session that waits to be linked. */
export interface PendingSession {
  readonly sessionID: string;
  /** Gives access to the session's codes without further authentication. Never log it. */
  readonly qrToken: string;
  readonly status: 'created';
  /** When the session ends unless it is scanned; ISO 8601, UTC. */
  readonly expires_at: string;
}

/**
 * Returns the view of an account's sessions.
 * @param sessions newest first
 * @param wanted the session to show on top
 */
export function sessionsView(sessions: readonly StoredSession[], wanted?: StoredSession): SessionsView {
  const top = wanted ?? firstConnected(sessions) ?? sessions[0];
  if (!top) return { status: 'disconnected', sessions: [] };
  const { sessionID, status, number } = viewOf(top);
  return { sessionID, status, number, sessions: sessions.map(viewOf) };
}

/** Returns, of the sessions connected now, the one that was first connected earliest. */
function firstConnected(sessions: readonly StoredSession[]): StoredSession | undefined {
  return sessions.filter(({ status }) => status === 'connected').sort(byConnection)[0];
}

/** Sorts the session connected earlier first. */
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
