import { StorageUnavailableError } from '../common/errors.js';
import type { MediaStore } from '../media/media-store.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { TextSources } from '../outbox/text-sources.js';
import { isMediaPayload } from './msgapp-payload.js';
import type { OutgoingMsgapp } from './msgapp-transport.js';

type Content = OutgoingMsgapp['content'];

/** Makes what a message says, at the moment of delivery. */
export class MessageContents {
  constructor(
    private readonly texts: TextSources,
    private readonly media: MediaStore,
  ) {}

  /**
   * Undefined when nobody can make it any more, for instance without the pepper of an old code, or without the file.
   * @throws StorageUnavailableError
   */
  async of({ messageId, payload }: Pick<Delivery, 'messageId' | 'payload'>): Promise<Content | undefined> {
    try {
      if (!isMediaPayload(payload)) return { text: this.texts.textOf(payload) };
      const { media, caption } = payload;
      const open = () => this.media.read(messageId);
      await begin(open());
      return { media: { ...media, caption, open } };
    } catch (error) {
      if (error instanceof StorageUnavailableError) throw error;
      return undefined;
    }
  }
}

/** Reads as much as tells whether it is there. */
async function begin(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes) return;
}
