import { StorageUnavailableError } from '../../common/errors.js';
import type { MediaStore } from '../../media/media-store.js';
import type { Delivery } from '../../outbox/outbox-records.js';
import type { Payload, TextPayload } from '../../outbox/payload.js';
import type { TextSources } from '../../outbox/text-sources.js';
import type { MediaKind, OutgoingMsgapp } from '../msgapp-transport.js';

/** The description of a file to send. Its bytes are in the media store, under the message's id. */
export interface MediaDescription {
  readonly kind: MediaKind;
  readonly mimetype: string;
  readonly fileName: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** The payload of a message with a file. */
export interface MediaPayload extends Payload {
  readonly kind: 'media';
  readonly media: MediaDescription;
  readonly caption?: string;
}

/** The field of a payload that says which received message it answers. */
export interface Answering {
  /** The id of the message, as `msgapp.received` has it. */
  readonly replyTo?: string;
}

/** Returns the id of the received message that a payload answers. */
export function answeredBy({ replyTo }: Payload): string | undefined {
  return typeof replyTo === 'string' ? replyTo : undefined;
}

/** A payload that its account may read again. The payload of a one-time code is not one. */
export type ShownPayload = (TextPayload | MediaPayload) & Answering;

/** Whether a payload has a file. */
export function isMediaPayload(payload: Payload): payload is MediaPayload {
  return payload.kind === 'media';
}

/** Whether a payload's content may be shown. */
export function isShownPayload(payload: Payload): payload is ShownPayload {
  return payload.kind === 'text' || payload.kind === 'media';
}

type Content = OutgoingMsgapp['content'];

/** Builds a message's content at the moment of delivery. */
export class MessageContents {
  constructor(
    private readonly texts: TextSources,
    private readonly media: MediaStore,
  ) {}

  /**
   * Returns undefined if the content can no longer be built, for example without the pepper of an old code, or without the file.
   *
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

/** Reads the first chunk, which fails if the file does not exist. */
async function begin(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes) return;
}
