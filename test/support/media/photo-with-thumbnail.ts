import { sandboxMedia } from '../../../src/sandbox/sandbox-media.js';

/** A photo that has itself as the thumbnail in its Exif segment, as cameras write it. */
export function photoWithThumbnail(): Buffer {
  const photo = Buffer.from(sandboxMedia('photo.jpg')?.bytes ?? '');
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), photo]);
  const marker = Buffer.from('ffe10000', 'hex');
  marker.writeUInt16BE(exif.length + 2, 2);
  return Buffer.concat([photo.subarray(0, 2), marker, exif, photo.subarray(2)]);
}
