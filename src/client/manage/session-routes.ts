import type { UserSessionView as SignedIn } from '../../management/user-sessions/user-session.api.js';
import type { Caller, CallOptions } from '../caller.js';

export type { UserSessionView as SignedIn } from '../../management/user-sessions/user-session.api.js';

/** The sign-in of pages. The service keeps the user session in a cookie that scripts cannot read. */
export class SessionRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Signs in with the secret of a one-time link, or with the credentials that the host's `UserAuthenticator` accepts. */
  exchange(
    proof: { readonly token: string } | { readonly credentials: unknown },
    options?: CallOptions,
  ): Promise<SignedIn> {
    return this.#post('exchange', proof, options);
  }

  /** Gets a new access token with the session's cookie. */
  refresh(options?: CallOptions): Promise<SignedIn> {
    return this.#post('refresh', {}, options);
  }

  /**
   * Signs out. The session's cookie says which session ends. If the browser sends no cookie, as in a frame, the client's user
   * token says it.
   */
  end(options?: CallOptions): Promise<{ readonly success: true }> {
    return this.#post('end', {}, options, 'if-any');
  }

  #post<T>(step: string, body: object, options?: CallOptions, credentials: 'none' | 'if-any' = 'none'): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['session', step], body, repeat: 'unsafe', credentials }, options);
  }
}
