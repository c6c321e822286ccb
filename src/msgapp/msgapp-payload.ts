import type { Payload, TextPayload } from '../outbox/payload.js';
import type { MediaKind } from './msgapp-transport.js';

/** What is known of a file that is to be sent. Its bytes are in the media store, under the message's id. */
export interface MediaDescription {
  readonly kind: MediaKind;
  readonly mimetype: string;
  readonly fileName: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** Payload of a message with a file. */
export interface MediaPayload extends Payload {
  readonly kind: 'media';
  readonly media: MediaDescription;
  readonly caption?: string;
}

/** A payload that is shown to its account again; a code's is not. */
export type ShownPayload = TextPayload | MediaPayload;

/** Whether a payload carries a file. */
export function isMediaPayload(payload: Payload): payload is MediaPayload {
  return payload.kind === 'media';
}

/** Whether a payload may be shown. */
export function isShownPayload(payload: Payload): payload is ShownPayload {
  return payload.kind === 'text' || payload.kind === 'media';
}
