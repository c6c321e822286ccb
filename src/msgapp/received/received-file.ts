/** The kind under which the data of files is encrypted with the keys of a session's credentials. */
export const RECEIVED_FILE = 'received';

/** The encrypted data of a received message's file. */
export interface ReceivedFile {
  /** See `IncomingMedia.file`. */
  readonly file: string;
  readonly fileName: string | undefined;
}
