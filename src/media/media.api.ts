import { count, nullable, object, oneOf, text } from '../schemas/builders.js';
import type { Fields } from '../schemas/schema.js';

/** How a channel presents a file. */
export const MEDIA_KINDS = ['image', 'video', 'document', 'audio', 'voice'] as const;

/** How a channel presents a file. A `voice` note is an audio file that the app shows as spoken into the phone. */
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** The file of a message as a response describes it. */
export const file = <F extends Fields = Record<never, never>>(kind: string, further: F = {} as F) =>
  nullable(
    object('The file that was sent; null for a text.', {
      type: oneOf(MEDIA_KINDS, kind),
      mimetype: text('Its media type, for instance `image/jpeg`.'),
      ...further,
      size: count('Its size in bytes.'),
      sha256: text('SHA-256 of the file, hexadecimal.', { pattern: '^[0-9a-f]{64}$' }),
      caption: nullable(text('The text below the file; null if there is none.')),
    }),
  );
