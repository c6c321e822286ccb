import type { AccountRole, OperatorRole } from '../../accounts/keys/permissions.js';

/** A user, as `POST /session/exchange` and `/session/refresh` answer. */
export interface SessionUserView {
  readonly subject: string;
  /** Null for the roles of the operator. */
  readonly account: string | null;
  readonly role: AccountRole | OperatorRole;
}

/** The answer of `POST /session/exchange` and `/session/refresh`. */
export interface UserSessionView {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly user: SessionUserView;
}

/** The answer of `POST /manage/links`. */
export interface LinkView {
  /** To be put behind the address of a page of yours; null in a replay. */
  readonly url_fragment: string | null;
  /** ISO 8601. */
  readonly expires_at: string;
}
