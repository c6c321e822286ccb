import type { VerifiedUser } from './user-token-verifier.js';

/** The user of a token that we have issued ourselves. */
export type OwnUser = VerifiedUser & {
  /** The session that the token belongs to. */
  readonly userSessionId: string;
};

/** Verifies the tokens that we issue ourselves; they never reach the host's `UserTokenVerifier`. */
export abstract class OwnUserTokens {
  /** Whether a JWT claims to be one of ours. Nothing is verified or looked up. */
  abstract owns(token: string): boolean;

  /**
   * The user of a token; undefined if the token is forged or expired, or if its session has ended. Nothing is looked up
   * before the JWT's signature is verified.
   *
   * @throws StorageUnavailableError
   */
  abstract verify(token: string): Promise<OwnUser | undefined>;
}
