import type { DeliveryStatus } from '../../outbox/delivery-state.js';

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
  /** As the sender named it; undefined for files that were received before names were kept. */
  readonly fileName?: string | undefined;
}

/** A message as a sandbox transport hands it to the phones. */
export interface PhoneDelivery extends PhoneMessage {
  /** The recipient's place in the send, from 0; undefined when the delivery is not known. */
  readonly position?: number | undefined;
  /** The id of the phone's copy of the file in the media store. */
  readonly fileId?: string | undefined;
}

/** A message as the page shows it. */
export interface ScreenMessage extends PhoneMessage {
  /** False: it has not reached its phone, and `receivedAt` is the time of the first attempt. */
  readonly arrived: boolean;
  /** The present state of its delivery; undefined when that is not known. */
  readonly delivery: ScreenDelivery | undefined;
  /** Whether the bytes of `media` can still be read. */
  readonly fileKept: boolean;
}

/** The state of a delivery, as its sender sees it. */
export interface ScreenDelivery {
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
  /** What the delivery was charged. */
  readonly units: number;
  readonly refundedUnits: number;
}

/** The file of a message. */
export interface PhoneFile {
  readonly id: string;
  readonly mimetype: string;
  /** Bytes. */
  readonly size: number;
}

/** Stores the messages that the sandbox's phones received, and those that were sent to them and did not arrive. */
export abstract class PhoneStore {
  /** Stores messages. If a phone already has a message (same id, channel and number), it is not stored again. */
  abstract receive(messages: readonly PhoneDelivery[]): Promise<void>;
  /** Stores messages that did not arrive, each once. One that arrives later is shown only as received. */
  abstract lose(messages: readonly PhoneDelivery[]): Promise<void>;
  /** The newest messages that a phone received, about `MAX_PAGE_BYTES` of them, oldest first. */
  abstract messages(number: string): Promise<readonly PhoneMessage[]>;
  /**
   * The newest messages over all phones or of one phone, newest first, with those that did not arrive; at most `limit`, and
   * about `MAX_PAGE_BYTES` of them.
   */
  abstract latest(limit: number, number?: string): Promise<readonly ScreenMessage[]>;
  /** The file of a message that a phone received; undefined when there is none or its bytes were not kept. */
  abstract file(number: string, messageId: string): Promise<PhoneFile | undefined>;
  /**
   * Removes at most `limit` messages of a phone, or of all phones those from before `before`, milliseconds since the epoch.
   * @returns their number, and the ids of their files, which stay in the media store
   */
  abstract remove(
    which: { readonly number: string } | { readonly before: number },
    limit: number,
  ): Promise<{ readonly removed: number; readonly files: readonly string[] }>;
  /** Removes all messages; returns the ids of their files, which stay in the media store. */
  abstract clear(): Promise<readonly string[]>;
}
