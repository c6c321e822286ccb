/** No session came about. */
export class SessionBindError extends Error {
  override readonly name = 'SessionBindError';

  /**
   * @param status the SMSC's command_status, where it answered the bind with a refusal: 0x0D, 0x0E, 0x0F and 0x05 are
   *   mistakes in the configuration, not worth a tight loop. Undefined: no connection, no TLS, no answer in time.
   */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
