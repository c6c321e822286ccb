import { parseJson, valueAt } from '../http/json-values.js';
import { type GraphRefusal, refusalOf } from './graph-errors.js';

/** The credentials of one number. */
export interface CloudCredentials {
  /** Meta's id of the number, digits. */
  readonly phoneNumberId: string;
  readonly accessToken: string;
}

/** The address and the time limits of the client. */
export interface GraphSettings {
  /** The address of the Graph API with its version and without a trailing slash: `https://graph.facebook.com/v25.0`. */
  readonly baseUrl: string;
  /** Time limit of a call, in milliseconds. */
  readonly requestMs: number;
  /** Time limit of the upload of a file, in milliseconds. */
  readonly uploadMs: number;
}

/** The end of a call. */
export type GraphOutcome =
  /** `json`: the answer's body, which nobody has checked yet. */
  | { readonly kind: 'answered'; readonly json: unknown }
  /** `error`: `cloud_` with the code of the refusal or the HTTP status. It contains nothing else of the answer. */
  | { readonly kind: GraphRefusal; readonly error: string };

/** The maximum size of an answer, in bytes. Real answers have a few hundred bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Faults of a connection that was never made, so that nothing was sent. */
const BEFORE_SENDING = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Calls Meta's Graph API with Node's `fetch`. It follows no redirects, which could carry the token elsewhere, and repeats nothing.
 * Its methods never reject.
 */
export class GraphClient {
  constructor(private readonly settings: GraphSettings) {}

  /** Reads a number: `{ display_phone_number, quality_rating, … }`. */
  readNumber(credentials: CloudCredentials): Promise<GraphOutcome> {
    const fields = 'display_phone_number,verified_name,quality_rating';
    return this.call(credentials, `?fields=${fields}`, { method: 'GET' }, this.settings.requestMs);
  }

  /** Sends a message: `{ messages: [{ id }], … }`. */
  sendMessage(credentials: CloudCredentials, message: object): Promise<GraphOutcome> {
    const body = JSON.stringify({ messaging_product: 'whatsapp', recipient_type: 'individual', ...message });
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    return this.call(credentials, '/messages', init, this.settings.requestMs);
  }

  /** Uploads a file: `{ id }`. */
  uploadFile(credentials: CloudCredentials, file: Blob, fileName: string): Promise<GraphOutcome> {
    const body = new FormData();
    body.set('messaging_product', 'whatsapp');
    body.set('type', file.type);
    body.set('file', file, fileName);
    return this.call(credentials, '/media', { method: 'POST', body }, this.settings.uploadMs);
  }

  /** Reads where a received file is: `{ url, mime_type, file_size, … }`. */
  readFile({ phoneNumberId, accessToken }: CloudCredentials, id: string): Promise<GraphOutcome> {
    const path = `?phone_number_id=${encodeURIComponent(phoneNumberId)}`;
    return this.call({ phoneNumberId: id, accessToken }, path, { method: 'GET' }, this.settings.requestMs);
  }

  /** The origin of the API. */
  get origin(): string {
    return new URL(this.settings.baseUrl).origin;
  }

  /** @param object Meta's id of the number, or of a file */
  private async call(
    { phoneNumberId: object, accessToken }: CloudCredentials,
    path: string,
    init: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
    ms: number,
  ): Promise<GraphOutcome> {
    try {
      const answer = await fetch(`${this.settings.baseUrl}/${encodeURIComponent(object)}${path}`, {
        ...init,
        headers: { accept: 'application/json', ...init.headers, authorization: `Bearer ${accessToken}` },
        redirect: 'error',
        signal: AbortSignal.timeout(ms),
      });
      const json = await readJson(answer);
      if (answer.ok) return { kind: 'answered', json };
      const code = valueAt(json, 'error', 'code');
      const known = typeof code === 'number' && Number.isSafeInteger(code) ? code : undefined;
      return { kind: refusalOf(answer.status, known), error: `cloud_${known ?? `http_${answer.status}`}` };
    } catch (error) {
      return faultOf(error);
    }
  }
}

/** Returns undefined for a body that is too large or not JSON. */
async function readJson({ body }: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}

/** `fetch` hides the fault of the connection in the cause of its error. The texts are not used, because they may quote the URL. */
function faultOf(error: unknown): GraphOutcome {
  const code = valueAt(error, 'cause', 'code');
  if (typeof code === 'string' && BEFORE_SENDING.has(code)) return { kind: 'retry', error: 'cloud_not_reached' };
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  return { kind: 'unclear', error: isLate ? 'cloud_timeout' : 'cloud_connection_lost' };
}
