import { textOf, valueAt } from '../http/json-values.js';
import type { CloudCredentials, GraphClient } from './graph-client.js';

/** The domains from which Meta hands out files. Only they and the origin of the API get the token. */
const META = /(^|\.)(fbsbx\.com|fbcdn\.net|facebook\.com|whatsapp\.net)$/;

/**
 * Opens a file that a person sent.
 * @param id Meta's id of the file
 * @param ms the time limit for all of the file, in milliseconds
 * @param signal aborts the opening, not the reading
 * @returns undefined if Meta no longer has the file
 * @throws Error if Meta does not answer or does not accept the token
 */
export async function openCloudFile(
  client: GraphClient,
  credentials: CloudCredentials,
  id: string,
  ms: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const outcome = await client.readFile(credentials, id);
  if (outcome.kind === 'refused') return undefined;
  const address = outcome.kind === 'answered' ? textOf(valueAt(outcome.json, 'url')) : undefined;
  if (address === undefined || !URL.canParse(address)) throw new Error('Meta does not say where the file is.');
  const url = new URL(address);
  const isMeta = url.protocol === 'https:' && META.test(url.hostname);
  if (!isMeta && url.origin !== client.origin) throw new Error('The file is at another place than Meta.');
  signal.throwIfAborted();
  const opening = new AbortController();
  const abort = () => opening.abort(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${credentials.accessToken}` },
      redirect: 'error',
      signal: AbortSignal.any([opening.signal, AbortSignal.timeout(ms)]),
    });
    if (answer.ok && answer.body) return answer.body;
    await answer.body?.cancel();
    if (answer.status === 404 || answer.status === 410) return undefined;
    throw new Error(`Meta answered ${answer.status} for the file.`);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
