import { Readable } from 'node:stream';
import type { AnyMessageContent } from 'baileys';
import type { OutgoingMedia, OutgoingMsgapp } from '../../msgapp/msgapp-transport.js';

/**
 * A message as Baileys takes it. Files only as streams: from a URL or a path Baileys would read whatever it names, the
 * host's own files included. A recipient's app shows no caption under an audio file, so none is sent.
 */
export function messageContent(content: OutgoingMsgapp['content']): AnyMessageContent {
  // Without this null Baileys fetches the first link of a text for a preview.
  if ('text' in content) return { text: content.text, linkPreview: null };
  const { media } = content;
  const { mimetype, fileName } = media;
  const caption = media.caption === undefined ? {} : { caption: media.caption };
  switch (media.kind) {
    case 'image':
      return { image: streamOf(media), mimetype, ...caption };
    case 'video':
      // With a thumbnail of our own, an empty one, it does not start ffmpeg on a stranger's file.
      return { video: streamOf(media), mimetype, ...caption, jpegThumbnail: '' };
    case 'audio':
      return { audio: streamOf(media), mimetype };
    case 'document':
      return { document: streamOf(media), mimetype, fileName, ...caption };
  }
}

function streamOf(media: OutgoingMedia): { stream: Readable } {
  return { stream: Readable.from(media.open(), { objectMode: false }) };
}
