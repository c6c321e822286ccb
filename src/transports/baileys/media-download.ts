import { createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import type { MediaKind } from '../../msgapp/msgapp-transport.js';

/** The location of a file, and the key that it is encrypted with. */
interface MediaFile {
  readonly kind: MediaKind;
  /** The path at the app's host of files. */
  readonly path: string;
  /** The key: 32 bytes in base64. */
  readonly key: string;
}

export function fileText(file: MediaFile): string {
  return JSON.stringify(file);
}

/** Reads the file in a text that `fileText` has made. */
export function readFile(text: string): MediaFile {
  return JSON.parse(text);
}

/** Names the keys of each kind of file (HKDF's info). */
const KEYS_OF: Readonly<Record<MediaKind, string>> = {
  image: 'WhatsApp Image Keys',
  video: 'WhatsApp Video Keys',
  document: 'WhatsApp Document Keys',
  audio: 'WhatsApp Audio Keys',
  voice: 'WhatsApp Audio Keys',
};

/** The length of the authentication code at the end of an encrypted file, in bytes. */
const MAC = 10;
/** The longest silence of the host, in milliseconds. */
const SILENCE_MS = 15_000;

/** The host from which files are fetched. */
interface MediaOrigin {
  readonly origin: string;
  readonly agent?: Agent | undefined;
}

/**
 * Fetches and decrypts a file as a stream. The sender of the message chose the path and the key. Therefore the sender cannot
 * choose the host, redirects are not followed, and reading fails if the file is not authentic.
 *
 * @param signal aborts the request until its answer begins
 * @returns undefined if the host does not have the file, or no longer has it
 */
export async function downloadMedia(
  { kind, path, key }: MediaFile,
  { origin, agent }: MediaOrigin,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const secret = Buffer.from(key, 'base64');
  const url = path.startsWith('/') && URL.canParse(origin + path) ? new URL(origin + path) : undefined;
  if (url?.origin !== origin || secret.length !== 32) return undefined;
  const response = await answerOf(url, agent, signal);
  if (response.statusCode === 200) return decrypted(response, kind, secret);
  response.destroy();
  if (response.statusCode === 404 || response.statusCode === 410) return undefined;
  throw new Error(`The host of files answered ${response.statusCode}.`);
}

function answerOf(url: URL, agent: Agent | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: '*/*', 'accept-encoding': 'identity', origin: 'https://web.whatsapp.com' };
    const asked = request(url, { headers, timeout: SILENCE_MS, ...(agent && { agent }) });
    const abort = () => asked.destroy(new Error('The request is over.'));
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    // This listener stays attached, so that later errors reach the reader of the body.
    asked.on('error', reject);
    asked.on('timeout', () => asked.destroy(new Error('The host of files is silent.')));
    asked.once('response', (response) => {
      signal.removeEventListener('abort', abort);
      response.on('error', () => undefined);
      resolve(response);
    });
    asked.end();
  });
}

/** Decrypts a file: AES-256-CBC, followed by the first ten bytes of the HMAC-SHA256 over the nonce and the ciphertext. */
async function* decrypted(source: AsyncIterable<Uint8Array>, kind: MediaKind, key: Buffer): AsyncGenerator<Uint8Array> {
  const keys = Buffer.from(hkdfSync('sha256', key, '', KEYS_OF[kind], 112));
  const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  const hmac = createHmac('sha256', macKey).update(iv);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const known = Buffer.concat([rest, chunk]);
    const body = known.subarray(0, Math.max(known.length - MAC, 0));
    rest = Buffer.from(known.subarray(body.length));
    hmac.update(body);
    const plain = decipher.update(body);
    if (plain.length > 0) yield plain;
  }
  const isAuthentic = rest.length === MAC && timingSafeEqual(hmac.digest().subarray(0, MAC), rest);
  if (!isAuthentic) throw new Error('The file is not the one that was sent.');
  yield decipher.final();
}
