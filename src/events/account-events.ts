import type { NewEvent } from './event-types.js';
import type { CodeData, CodeRule, KeyData, OptOutData, PostingData, SessionData } from './events.api.js';
import { isPublishedSession } from './session-status.js';

/** The account of an event, and its time in milliseconds since the epoch. */
type Scope = Pick<NewEvent, 'accountId' | 'at'>;

/** A messaging app's session of an account, after its state has changed. */
export interface SteppedSession extends Omit<SessionData, 'number' | 'reason'> {
  readonly accountId: string;
  readonly number: string | undefined;
}

/** The event of a number that ends or resumes SMS under a signature. */
export function optOutEvent(type: 'optout.added' | 'optout.removed', scope: Scope, data: OptOutData): NewEvent {
  return { type, ...scopeOf(scope), data: { number: data.number, signature: data.signature, source: data.source } };
}

/** The event of a session whose state has changed; none for `created`. */
export function sessionEvents(session: SteppedSession, reason: string, at: number): readonly NewEvent[] {
  const { accountId, status } = session;
  if (!isPublishedSession(status)) return [];
  return [{ type: `session.${status}`, accountId, at, data: sessionData(session, reason) }];
}

/** The event that the app refuses a number's messages to new contacts until a given time. */
export function restrictionEvent(session: SteppedSession, reason: string, until: number, at: number): NewEvent {
  const data = { ...sessionData(session, reason), until: new Date(until).toISOString() };
  return { type: 'session.restricted', accountId: session.accountId, at, data };
}

/** The event of a notice that an operator should read about a session. */
export function noticeEvent(session: SteppedSession, reason: string, at: number): NewEvent {
  return { type: 'session.notice', accountId: session.accountId, at, data: sessionData(session, reason) };
}

/** The events of an attempt to verify a code. Only `verified` and `locked` have one. */
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
 * The event of a code that was not sent.
 * @param retryAfter the seconds until a code can be sent; undefined if waiting does not help
 */
export function refusalEvent(
  { accountId, at, ...code }: CodeData & Scope,
  reason: CodeRule,
  retryAfter: number | undefined,
): NewEvent {
  return { type: 'otp.refused', accountId, at, data: { ...codeData(code), reason, retry_after: retryAfter ?? null } };
}

/** The event of units that an operator has added or taken. */
export function postingEvent(posting: PostingData & Scope & { readonly kind: 'topup' | 'adjust' }): NewEvent {
  const type = posting.kind === 'topup' ? 'balance.topped_up' : 'balance.adjusted';
  const { id, units, note } = posting;
  return { type, ...scopeOf(posting), data: { id, units, note: note === null ? null : fitting(note) } };
}

/** The event of a balance that has fallen below the account's threshold. */
export function lowBalanceEvent(scope: Scope, balance: number, threshold: number): NewEvent {
  return { type: 'balance.low', ...scopeOf(scope), data: { balance, threshold } };
}

/** The event of a decision on a sender name; none while it is pending. */
export function signatureEvents(
  scope: Scope,
  { name, status, reason }: { readonly name: string; readonly status: string; readonly reason: string | undefined },
): readonly NewEvent[] {
  if (status !== 'verified' && status !== 'rejected') return [];
  const data = { name, reason: reason === undefined ? null : fitting(reason) };
  return [{ type: `signature.${status}`, ...scopeOf(scope), data }];
}

/**
 * The event of a new key.
 * @param replaced the id of the key that it replaces
 */
export function newKeyEvent(scope: Scope, key: KeyData, replaced: string | undefined): NewEvent {
  if (replaced === undefined) return { type: 'key.created', ...scopeOf(scope), data: keyData(key) };
  return { type: 'key.rotated', ...scopeOf(scope), data: { ...keyData(key), replaced } };
}

/** The event of a key that is no longer valid. */
export function revokedKeyEvent(scope: Scope, key: KeyData): NewEvent {
  return { type: 'key.revoked', ...scopeOf(scope), data: keyData(key) };
}

/** The maximum number of bytes of an operator's text, as JSON. An event has at most 2 KiB. */
const TEXT_BYTES = 1024;

/** Cuts a long text. A text that was cut ends with an ellipsis. */
function fitting(text: string): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(JSON.stringify(character)) - '""'.length;
    if (bytes > TEXT_BYTES) return `${kept}…`;
    kept += character;
  }
  return text;
}

function keyData({ id, name }: KeyData): KeyData {
  return { id, name };
}

function sessionData({ id, channel, number, status }: SteppedSession, reason: string): SessionData {
  return { id, channel, number: number ?? null, status, reason: fitting(reason) };
}

function codeData({ service, number }: CodeData): CodeData {
  return { service, number };
}

function scopeOf({ accountId, at }: Scope): Scope {
  return { accountId, at };
}
