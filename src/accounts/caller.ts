/** Who makes a request. */
export interface Caller {
  /** The account that pays. */
  readonly accountId: string;
  /**
   * How the caller showed who it is: `key`: an API key in `X-Api-Key`; `legacy-bearer`: an API key in `Authorization:
   * Bearer` (deprecated); `user-token`: a JWT that the host's `UserTokenVerifier` accepted.
   */
  readonly via: 'key' | 'legacy-bearer' | 'user-token';
  /** The public part of the API key; absent for a user token. */
  readonly keyId?: string;
}
