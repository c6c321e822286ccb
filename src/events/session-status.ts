/** The properties of one state of a session. */
interface SessionState {
  /** The states that may follow. An empty list: the state is final. */
  readonly next: readonly string[];
  /**
   * The description of its event `session.<state>` in documents. Null: there is no event, because the answer to
   * `connect` already shows the state.
   */
  readonly meaning: string | null;
}

/**
 * The states of a messaging app's session, in the order in which documents list them. Types, steps, OpenAPI, events and
 * metrics are derived from this table.
 */
export const SESSION_STATES = {
  created: { next: ['connected', 'expired', 'logged_out', 'replaced', 'banned', 'failed'], meaning: null },
  connected: {
    next: ['reconnecting', 'logged_out', 'replaced', 'banned', 'failed'],
    meaning: 'A number is linked, or its connection is back.',
  },
  reconnecting: {
    next: ['connected', 'logged_out', 'replaced', 'banned', 'failed'],
    meaning: 'The connection was lost and is being restored.',
  },
  expired: { next: [], meaning: 'Nobody scanned the code in time.' },
  logged_out: { next: [], meaning: 'The number was unlinked.' },
  replaced: { next: [], meaning: 'The session was opened elsewhere.' },
  banned: { next: [], meaning: 'The app has banned the number.' },
  failed: { next: [], meaning: 'The session failed for good.' },
} as const satisfies Readonly<Record<string, SessionState>>;

type States = typeof SESSION_STATES;

/** A state of a linked number. */
export type SessionStatus = keyof States;

type StatusWith<Property> = { [S in SessionStatus]: States[S] extends Property ? S : never }[SessionStatus];

/** The states in which a session is over. */
export type FinalSessionStatus = StatusWith<{ readonly next: readonly [] }>;

/** The states that have an event. */
export type PublishedSessionStatus = StatusWith<{ readonly meaning: string }>;

function statusesWith<S extends SessionStatus>(has: (state: SessionState) => boolean): readonly S[] {
  const all = Object.entries<SessionState>(SESSION_STATES);
  // The compiler cannot know this: the caller's condition must match the type S.
  return all.filter(([, state]) => has(state)).map(([status]) => status as S);
}

export const SESSION_STATUSES = statusesWith<SessionStatus>(() => true);
export const FINAL_SESSION_STATUSES = statusesWith<FinalSessionStatus>(({ next }) => next.length === 0);
export const OPEN_SESSION_STATUSES = statusesWith<Exclude<SessionStatus, FinalSessionStatus>>(
  ({ next }) => next.length > 0,
);
export const PUBLISHED_SESSION_STATUSES = statusesWith<PublishedSessionStatus>(({ meaning }) => meaning !== null);

/** Whether a session may move from one state to the other. */
export function maySessionMove(from: SessionStatus, to: SessionStatus): boolean {
  const { next }: SessionState = SESSION_STATES[from];
  return next.includes(to);
}

/** Whether a session is over. */
export function isFinal(status: SessionStatus): status is FinalSessionStatus {
  const { next }: SessionState = SESSION_STATES[status];
  return next.length === 0;
}

/** Whether a session that reaches this state has an event. */
export function isPublishedSession(status: SessionStatus): status is PublishedSessionStatus {
  return SESSION_STATES[status].meaning !== null;
}
