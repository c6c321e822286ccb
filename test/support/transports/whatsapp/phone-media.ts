import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { getMediaKeys, type proto } from 'baileys';

const KINDS = ['image', 'video', 'document', 'audio'] as const;
/** Bytes of the authentication code at the end of an upload. */
const MAC = 10;

/** A file as the recipient sees it. */
export interface ReceivedMedia {
  readonly kind: (typeof KINDS)[number];
  readonly bytes: Buffer;
  readonly mimetype: string;
  readonly caption: string | undefined;
  readonly fileName: string | undefined;
  readonly thumbnail: Uint8Array | undefined;
}

/**
 * Decrypts the file of a message. `blobOf` returns what was uploaded at a path.
 *
 * @throws Error if there is none, or if a hash or the authentication code is wrong
 */
export async function openMedia(
  message: proto.IMessage,
  blobOf: (path: string) => Buffer | undefined,
): Promise<ReceivedMedia> {
  for (const kind of KINDS) {
    const content = message[`${kind}Message`];
    if (!content) continue;
    const blob = blobOf(new URL(content.url ?? '').pathname);
    if (!blob) throw new Error('Nothing was uploaded there.');
    const bytes = await decrypt(blob, kind, content);
    return {
      kind,
      bytes,
      mimetype: content.mimetype ?? '',
      caption: ('caption' in content ? content.caption : undefined) ?? undefined,
      fileName: ('fileName' in content ? content.fileName : undefined) ?? undefined,
      thumbnail: ('jpegThumbnail' in content ? content.jpegThumbnail : undefined) ?? undefined,
    };
  }
  throw new Error('The message carries no file.');
}

/** Encrypts a file as the app does, under a path of its own. */
export function sealMedia(kind: ReceivedMedia['kind'], bytes: Uint8Array) {
  const mediaKey = randomBytes(32);
  const info = `WhatsApp ${kind.charAt(0).toUpperCase()}${kind.slice(1)} Keys`;
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, '', info, 112));
  const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const mac = createHmac('sha256', macKey).update(iv).update(body).digest().subarray(0, MAC);
  return { path: `/v/${randomBytes(12).toString('base64url')}.enc`, blob: Buffer.concat([body, mac]), mediaKey };
}

interface MediaKeys {
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
}

async function decrypt(blob: Buffer, kind: ReceivedMedia['kind'], content: MediaKeys): Promise<Buffer> {
  const { iv, cipherKey, macKey } = await getMediaKeys(content.mediaKey, kind);
  if (!cipherKey || !macKey) throw new Error('The media key gives no keys.');
  const [body, mac] = [blob.subarray(0, -MAC), blob.subarray(-MAC)];
  const expected = createHmac('sha256', macKey).update(iv).update(body).digest().subarray(0, MAC);
  if (!expected.equals(mac)) throw new Error('The authentication code is wrong.');
  if (!isHashOf(content.fileEncSha256, blob)) throw new Error('The hash of the encrypted file is wrong.');
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  const plain = Buffer.concat([decipher.update(body), decipher.final()]);
  if (!isHashOf(content.fileSha256, plain)) throw new Error('The hash of the file is wrong.');
  return plain;
}

function isHashOf(hash: Uint8Array | null | undefined, data: Buffer): boolean {
  return createHash('sha256')
    .update(data)
    .digest()
    .equals(Buffer.from(hash ?? []));
}
