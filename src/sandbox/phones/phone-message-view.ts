import type { PhoneMedia, PhoneMessage } from './phone-store.js';

/** A message as the sandbox endpoints return it. */
export interface PhoneMessageView {
  /** The `smsID` or `messageID` of the send. */
  readonly messageID: string;
  /** `sms`, or the name of a messaging-app channel. */
  readonly channel: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly media: PhoneMediaView | null;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
}

/** A received file as the sandbox endpoints return it. */
export interface PhoneMediaView {
  readonly type: string;
  readonly mimetype: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly caption: string | null;
}

/** Converts a message to its wire form. */
export function phoneMessageView(message: PhoneMessage): PhoneMessageView {
  return {
    messageID: message.messageId,
    channel: message.channel,
    from: message.from,
    to: message.to,
    text: message.text,
    media: message.media ? mediaView(message.media) : null,
    receivedAt: new Date(message.receivedAt).toISOString(),
  };
}

function mediaView(media: PhoneMedia): PhoneMediaView {
  return {
    type: media.type,
    mimetype: media.mimetype,
    size: media.size,
    sha256: media.sha256,
    caption: media.caption ?? null,
  };
}
