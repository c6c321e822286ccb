import type { CodeData, NewEvent, OptOutData, SessionData } from './event-types.js';

/** Whose event, and when: milliseconds since the epoch. */
type Scope = Pick<NewEvent, 'accountId' | 'at'>;

/** An account's session of a messaging app after a step. */
export interface SteppedSession extends Omit<SessionData, 'number' | 'reason'> {
  readonly accountId: string;
  readonly number: string | undefined;
}

/** A number that ends or resumes SMS under a signature. */
export function optOutEvent(type: 'optout.added' | 'optout.removed', scope: Scope, data: OptOutData): NewEvent {
  return { type, ...scopeOf(scope), data: { number: data.number, signature: data.signature, source: data.source } };
}

/** A step of a session; `created` tells nothing. */
export function sessionEvents(session: SteppedSession, reason: string, at: number): readonly NewEvent[] {
  const { accountId, status } = session;
  if (!isStep(status)) return [];
  return [{ type: `session.${status}`, accountId, at, data: sessionData(session, reason) }];
}

/** The app refuses a number's messages to new contacts until a moment. */
export function restrictionEvent(session: SteppedSession, reason: string, until: number, at: number): NewEvent {
  const data = { ...sessionData(session, reason), until: new Date(until).toISOString() };
  return { type: 'session.restricted', accountId: session.accountId, at, data };
}

/** What an operator should know of a session. */
export function noticeEvent(session: SteppedSession, reason: string, at: number): NewEvent {
  return { type: 'session.notice', accountId: session.accountId, at, data: sessionData(session, reason) };
}

/** What became of an attempt to verify a code: only `verified` and `locked` tell something. */
export function codeEvents(
  { accountId, at, ...code }: CodeData & Scope,
  outcome: { readonly kind: string; readonly retryAfter?: number },
): readonly NewEvent[] {
  const data = codeData(code);
  if (outcome.kind === 'verified') return [{ type: 'otp.verified', accountId, at, data }];
  if (outcome.kind !== 'locked') return [];
  return [{ type: 'otp.locked', accountId, at, data: { ...data, retry_after: outcome.retryAfter ?? 0 } }];
}

/**
 * A code that was not sent.
 * @param retryAfter seconds; undefined when waiting changes nothing
 */
export function refusalEvent(
  { accountId, at, ...code }: CodeData & Scope,
  reason: string,
  retryAfter: number | undefined,
): NewEvent {
  return { type: 'otp.refused', accountId, at, data: { ...codeData(code), reason, retry_after: retryAfter ?? null } };
}

const STEPS = ['connected', 'reconnecting', 'logged_out', 'replaced', 'banned', 'expired', 'failed'] as const;

function isStep(status: string): status is (typeof STEPS)[number] {
  return (STEPS as readonly string[]).includes(status);
}

function sessionData({ id, channel, number, status }: SteppedSession, reason: string): SessionData {
  return { id, channel, number: number ?? null, status, reason };
}

function codeData({ service, number }: CodeData): CodeData {
  return { service, number };
}

function scopeOf({ accountId, at }: Scope): Scope {
  return { accountId, at };
}
