/** A message received by a sandbox phone. */
export interface PhoneMessage {
  /** The send's own id: `smsID` or `messageID`. */
  readonly messageId: string;
  readonly channel: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly media: PhoneMedia | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** A file a sandbox phone received. */
export interface PhoneMedia {
  readonly type: string;
  readonly mimetype: string;
  readonly size: number;
  readonly sha256: string;
  readonly caption: string | undefined;
}

/** Persists what the sandbox's phones received. */
export abstract class PhoneStore {
  /** Stores messages; one that its phone has already (same id, channel and number) is stored once. */
  abstract receive(messages: readonly PhoneMessage[]): Promise<void>;
  /** What a phone received, oldest first. */
  abstract messages(number: string): Promise<readonly PhoneMessage[]>;
  /** The newest messages over all phones, newest first. */
  abstract latest(limit: number): Promise<readonly PhoneMessage[]>;
}
