import { CLIP_MP4 } from './clip-mp4.js';
import { DOCUMENT_PDF } from './document-pdf.js';
import { PHOTO_JPG } from './photo-jpg.js';
import { VOICE_OGG } from './voice-ogg.js';

/** A small file to send while trying things out. */
export interface SandboxMedia {
  readonly mimetype: string;
  readonly bytes: Uint8Array;
}

const FILES: ReadonlyMap<string, SandboxMedia> = new Map([
  ['photo.jpg', { mimetype: 'image/jpeg', bytes: Buffer.from(PHOTO_JPG, 'base64') }],
  ['clip.mp4', { mimetype: 'video/mp4', bytes: Buffer.from(CLIP_MP4, 'base64') }],
  ['document.pdf', { mimetype: 'application/pdf', bytes: Buffer.from(DOCUMENT_PDF, 'base64') }],
  ['voice.ogg', { mimetype: 'audio/ogg; codecs=opus', bytes: Buffer.from(VOICE_OGG, 'base64') }],
]);

/** The names of the files that the sandbox has. */
export const SANDBOX_MEDIA_NAMES: readonly string[] = [...FILES.keys()];

/** One of the sandbox's own files by its name; undefined when it has none of that name. */
export function sandboxMedia(name: string): SandboxMedia | undefined {
  return FILES.get(name);
}
