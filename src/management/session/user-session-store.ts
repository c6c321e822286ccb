import type { Author } from '../../accounts/audit/audit.js';
import type { AccountRole, OperatorRole } from '../../accounts/keys/permissions.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import type { Acceptance } from '../../outbox/outbox.js';

/** Whom a link or a session is for. */
export interface SessionUser {
  readonly subject: string;
  /** Undefined for the roles of the operator. */
  readonly accountId: string | undefined;
  readonly role: AccountRole | OperatorRole;
}

/** A one-time link. */
export interface UserLink extends SessionUser {
  readonly id: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The beginning of a session. Times in milliseconds since the epoch. */
export interface SessionStart {
  readonly id: string;
  /** SHA-256 of the first refresh token, hexadecimal. */
  readonly hash: string;
  readonly at: number;
  /** When it ends unless it is refreshed. */
  readonly expiresAt: number;
  /** When it ends in any case. */
  readonly endsAt: number;
  /** The client's address. */
  readonly address: string | undefined;
}

/** A session that goes on. */
export interface UserSession extends SessionUser {
  readonly id: string;
  /** When it ends in any case, milliseconds since the epoch. */
  readonly endsAt: number;
}

/** The use of a refresh token. */
export interface SessionRefresh {
  readonly id: string;
  /** SHA-256 of the token, and of the one that replaces it, hexadecimal. */
  readonly hash: string;
  readonly nextHash: string;
  readonly at: number;
  /** When the session ends unless it is refreshed again. */
  readonly expiresAt: number;
  /** How long the token that was replaced last is good for, and its successor is not replaced, in milliseconds. */
  readonly graceMs: number;
  readonly address: string | undefined;
}

/**
 * What a refresh token was good for. `refreshed`: also for the one that was replaced a moment ago. `replayed`: it was replaced
 * before, so the session is ended by this. `ended`: it had ended, or its account is closed.
 */
export type RefreshOutcome =
  | {
      readonly kind: 'refreshed';
      readonly session: UserSession;
      /** SHA-256 of the token that is good from now on, hexadecimal. */
      readonly hash: string;
      /** When it ends unless it is refreshed, milliseconds since the epoch. */
      readonly expiresAt: number;
    }
  | { readonly kind: 'replayed' | 'ended' };

/** A user, and undefined or the account of which only the sessions are meant. */
export interface SessionOwner {
  readonly subject: string;
  readonly accountId: string | undefined;
}

/** Why a session is ended. */
export type SessionEndReason = 'requested' | 'replayed';

/**
 * Persists one-time links and the sessions of users; of their secrets only hashes. Entries of the audit log are written in the
 * transaction of the change. Every method throws `StorageUnavailableError` when the database does not answer.
 */
export abstract class UserSessionStore {
  /**
   * Stores a link, and records `link.created`.
   *
   * @param once the Idempotency-Key under which the reply is kept; where there is a reply already, nothing is stored
   * @throws MessagingError `error.account_not_found`, also for a closed account; `error.idempotency_mismatch`
   */
  abstract addLink(link: UserLink, by: Author, reply: object, once?: IdempotencyKey): Promise<Acceptance>;

  /**
   * Begins a session by a link, which is used by this, and records `session.started`.
   * @returns undefined where there is no such link, it was used, it is too late, or its account is closed
   */
  abstract startByLink(hash: string, start: SessionStart): Promise<UserSession | undefined>;

  /**
   * Begins a session of a user whom the host has authenticated, and records `session.started`.
   * @returns undefined where the account does not exist or is closed
   */
  abstract start(user: SessionUser, start: SessionStart): Promise<UserSession | undefined>;

  /**
   * Replaces a refresh token; of several at once with the same token, one does. One that has replaced another less than
   * `graceMs` ago stays as it is.
   */
  abstract refresh(refresh: SessionRefresh): Promise<RefreshOutcome>;

  /** Ends a session, and records `session.ended` unless it had ended. */
  abstract end(id: string, at: number, address: string | undefined): Promise<void>;

  /**
   * Ends the sessions of a user, of one account or wherever he has one, at most so many, and records `session.ended` for each.
   * His unused links, of that account or all, begin no session any more, and each is recorded as `link.revoked`.
   * @returns their ids; fewer than `limit`: there are no others
   */
  abstract endOf(user: SessionOwner, at: number, by: Author, limit: number): Promise<readonly string[]>;

  /** The session, undefined where it was ended, or its account is closed. Limits of time are not looked at. */
  abstract find(id: string): Promise<UserSession | undefined>;

  /** Removes at most so many links and sessions whose time was over before a moment; returns the higher number. */
  abstract purge(before: number, limit: number): Promise<number>;
}
