import type { MediaStore } from '../media/media-store.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { TextSources } from '../outbox/text-sources.js';
import { isMediaPayload } from './msgapp-payload.js';
import type { OutgoingMsgapp } from './msgapp-transport.js';

/** Makes what a message says, at the moment of delivery. */
export class MessageContents {
  constructor(
    private readonly texts: TextSources,
    private readonly media: MediaStore,
  ) {}

  /** Undefined when nobody can make it any more, for instance without the pepper of an old code. */
  of({ messageId, payload }: Pick<Delivery, 'messageId' | 'payload'>): OutgoingMsgapp['content'] | undefined {
    if (isMediaPayload(payload)) {
      const { media, caption } = payload;
      return { media: { ...media, caption, open: () => this.media.read(messageId) } };
    }
    try {
      return { text: this.texts.textOf(payload) };
    } catch {
      return undefined;
    }
  }
}
