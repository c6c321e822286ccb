/** Somebody else owns the session now, or it is over: nothing may be written for it any more. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';

  constructor(readonly sessionId: string) {
    super('The session is no longer ours.');
  }
}
