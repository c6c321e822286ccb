/** The kind under which files are sealed beside the credentials of a session. */
export const RECEIVED_FILE = 'received';

/** A file of a message that came in, as it is sealed. */
export interface ReceivedFile {
  /** See `IncomingMedia.file`. */
  readonly file: string;
  readonly fileName: string | undefined;
}
