/** A stored credential cannot be decrypted. Names the session and the key's id, never a secret. */
export class CredentialsUnreadableError extends Error {
  override readonly name = 'CredentialsUnreadableError';

  /** @param why `unknown_key`: it is not among the options; `damaged`: it was changed or stands where it does not belong */
  constructor(
    readonly why: 'unknown_key' | 'damaged',
    message: string,
  ) {
    super(message);
  }
}
