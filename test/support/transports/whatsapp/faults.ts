/** The faults of the peer. A change takes effect at once. */
export interface Faults {
  /** The upgrade to a WebSocket is answered with this HTTP status. */
  upgradeStatus?: number;
  /** After the handshake nothing comes but answers to pings. */
  silent: boolean;
  /** After the handshake nothing comes at all, whatever the client sends. */
  deaf: boolean;
  /** How many codes a connection shows before they run out. */
  refs: number;
  /** Known devices are refused with this reason. */
  loginFailure?: number;
  /** Pairing ends with a demand for a passkey instead of success. */
  passkey: boolean;
  /** The phone's account signature is 64 random bytes. */
  forgedAccount: boolean;
  /** Messages are acknowledged with this error. */
  ackError?: number;
  /** Messages are taken and never acknowledged. */
  dropAck: boolean;
  /** Recipients' phones confirm what they get. */
  receipts: boolean;
  /** Uploads are answered with this HTTP status. */
  uploadStatus: number;
  /** Queries that are never answered, as `xmlns/child`: `usync/usync`, `w:m/media_conn`, `encrypt/key`. */
  readonly held: Set<string>;
}

/** Removes all faults. */
export function mend(faults: Faults): void {
  faults.held.clear();
  delete faults.upgradeStatus;
  delete faults.loginFailure;
  delete faults.ackError;
  const { held: _, ...rest } = noFaults();
  Object.assign(faults, rest);
}

export function noFaults(): Faults {
  return {
    silent: false,
    deaf: false,
    refs: 6,
    passkey: false,
    forgedAccount: false,
    dropAck: false,
    receipts: true,
    uploadStatus: 200,
    held: new Set(),
  };
}
