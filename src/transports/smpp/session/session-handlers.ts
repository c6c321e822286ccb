import type { DataSmPdu, DeliverSmPdu } from '../pdu/pdu.js';

/** Who a session tells what comes in. */
export interface SessionHandlers {
  /**
   * Takes a receipt or an inbound text. The SMSC gets its "ok" once this resolves, "temporary error" (0x64) when it
   * rejects or throws. Called in the order of arrival, without waiting for the one before.
   */
  deliver(message: DeliverSmPdu | DataSmPdu): Promise<void>;

  /** Told of each thing the peer did against the protocol that the session lived through; no content, numbers or secrets in it. */
  fault?(what: string): void;
}
