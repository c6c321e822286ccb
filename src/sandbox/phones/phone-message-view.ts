import type { PhoneMediaView, PhoneMessageView } from '../sandbox.api.js';
import type { PhoneMedia, PhoneMessage } from './phone-store.js';

/** Converts a message to the form of the API. */
export function phoneMessageView(message: PhoneMessage): PhoneMessageView {
  return {
    messageID: message.messageId,
    channel: message.channel,
    from: message.from,
    to: message.to,
    text: message.text,
    ...(message.quote === undefined ? {} : { quote: message.quote }),
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
