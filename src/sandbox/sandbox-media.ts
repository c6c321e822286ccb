import { once } from '../common/concurrency/once.js';
import { readAsset } from './asset.js';

/** A small file to try the media routes with. */
export interface SandboxMedia {
  readonly mimetype: string;
  readonly bytes: Uint8Array;
}

/**
 * The sandbox's files. `clip.mp4` and `voice.ogg` last two seconds, and `document.pdf` has one page. The PDF is written by hand.
 * ffmpeg made the other files from its sources `gradients`, `drawbox` and `sine`.
 */
const FILES: ReadonlyMap<string, () => SandboxMedia> = new Map([
  file('photo.jpg', 'image/jpeg'),
  file('clip.mp4', 'video/mp4'),
  file('document.pdf', 'application/pdf'),
  file('voice.ogg', 'audio/ogg; codecs=opus'),
]);

/** The names of the sandbox's files. */
export const SANDBOX_MEDIA_NAMES: readonly string[] = [...FILES.keys()];

/** Returns the file with that name, which is read from disk at its first use. Undefined if the sandbox has no such file. */
export function sandboxMedia(name: string): SandboxMedia | undefined {
  return FILES.get(name)?.();
}

function file(name: string, mimetype: string): [name: string, read: () => SandboxMedia] {
  return [name, once(() => ({ mimetype, bytes: readAsset(`media/${name}`) }))];
}
