import { errorOf, MessagingApiError } from './api-error.js';
import { readEvents } from './event-stream.js';
import { Listing } from './listing.js';
import { limited, pause } from './waiting.js';

/** How a client reaches the API. */
export interface ClientOptions {
  /** The URL under which the routes are. Example: `https://api.example.com/api/v1`. */
  readonly baseUrl: string;
  /** For programs only. A browser refuses it, because everybody could read it there. */
  readonly apiKey?: string | undefined;
  /**
   * Returns the current user token. The client calls it before each attempt. After a 401 it calls it once more with the refused
   * token, and repeats the request if the function returns another token. If the function throws, the call throws the same error.
   */
  readonly token?: ((refused?: string) => Promise<string>) | undefined;
  /**
   * The header that carries the user token. Choose `x-user-token` for a page behind a proxy with Basic authentication, because
   * the browser puts the proxy's credentials into `Authorization`. Default: `authorization`, as `Bearer`.
   */
  readonly tokenHeader?: 'authorization' | 'x-user-token' | undefined;
  /** The account for which an operator's token is used. */
  readonly account?: string | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * How many milliseconds a call may take with all its attempts and pauses. Default 90 000. One attempt may take at most 35 000.
   */
  readonly timeoutMs?: number | undefined;
  /** How often an attempt is repeated after a network error, 429, 502, 503, 504 or `number_reconnecting`. Default 4. */
  readonly retries?: number | undefined;
  /**
   * The longest pause between two attempts, in milliseconds. If the service asks for a longer pause by `Retry-After`, the call
   * throws the error at once. Give a short pause if somebody waits in front of a screen. Default: whatever fits into `timeoutMs`.
   */
  readonly maxPauseMs?: number | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. If the service has accepted the request by then, it stays accepted. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the client's `timeoutMs` for this call. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a stream. */
export interface StreamCallOptions {
  /** Ends the stream, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with `open` when the connection is open, and with `waiting` when it has ended and will be opened again. `error` says
   * why it ended, or is undefined if the service closed the connection.
   */
  readonly onState?: ((state: 'open' | 'waiting', error?: MessagingApiError) => void) | undefined;
}

/** Options of a send. */
export interface SendOptions extends CallOptions {
  /** 1 to 255 visible characters. Default: a random key for each call. All attempts of the call have the same key. */
  readonly idempotencyKey?: string | undefined;
}

/** A request to the API. */
interface Ask {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The steps of the path below `baseUrl`, not yet encoded. */
  readonly path: readonly string[];
  /** The parameters of the query. Undefined values are left out. Lists are joined by commas. */
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  /** A file of CSV, as the body. */
  readonly file?: Blob;
  /**
   * `keyed`: the request has an Idempotency-Key. `unsafe`: a repeat would do more than the first request, so it is repeated only
   * after a 429.
   */
  readonly repeat?: 'keyed' | 'unsafe';
  /**
   * `none`: the path or the body authenticates the request. `if-any`: a cookie can authenticate it instead of the token. Default:
   * credentials are required.
   */
  readonly credentials?: 'none' | 'if-any';
  readonly accept?: string;
  /** The result if a repeated attempt finds nothing, because an earlier attempt, whose answer was lost, has removed it. */
  readonly gone?: object;
  /** Whether one attempt may take all the time of the call, because the answer is large. */
  readonly large?: true;
}

/** The time for one attempt. The service answers within 30 s after the body has arrived. */
const ATTEMPT_MS = 35_000;
/** Bytes of a body for which an attempt gets one more millisecond: 64 kbit/s, as on a slow mobile connection. */
const UPLOAD_BYTES_PER_MS = 8;
/** A stream that is silent for so long counts as broken. The service writes a comment every 15 s. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;

/** Sends the requests of a client, with credentials, attempts, deadlines and errors. */
export class Caller {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    const { apiKey, token } = options;
    if (apiKey !== undefined && token !== undefined) throw new TypeError('Give apiKey or token, not both.');
    if (apiKey !== undefined && ('document' in globalThis || 'importScripts' in globalThis)) {
      throw new TypeError('An apiKey in a browser is public. Give token instead.');
    }
    this.#options = options;
  }

  /** Sends a request and reads the answer as JSON. Returns undefined for an empty answer. */
  json<T>(ask: Ask, options?: SendOptions): Promise<T> {
    return this.read(ask, options, async (response) => {
      const text = await response.text();
      return text === '' ? undefined : JSON.parse(text);
    });
  }

  /** Returns a list whose pages the API gives by cursors. */
  list<T>(path: readonly string[], query: object | undefined, options: CallOptions | undefined): Listing<T> {
    return new Listing<T>(
      (cursor) => this.json({ path, query: { ...query, cursor } }, options),
      (page) => page.next_cursor,
    );
  }

  /**
   * Sends a request, and repeats it until there is an answer, as long as a repeat is harmless and can succeed.
   *
   * @throws MessagingApiError the error of the last attempt
   */
  async read<T>(ask: Ask, options: SendOptions = {}, take: (response: Response) => Promise<T>): Promise<T> {
    const { signal, timeoutMs = this.#options.timeoutMs ?? 90_000, idempotencyKey = newIdempotencyKey() } = options;
    const { retries = 4, maxPauseMs = Number.POSITIVE_INFINITY } = this.#options;
    const key = ask.repeat === 'keyed' ? idempotencyKey : undefined;
    const ends = performance.now() + timeoutMs;
    const body = ask.file ?? (ask.body && JSON.stringify(ask.body));
    const size = body instanceof Blob ? body.size : (body?.length ?? 0);
    const attemptMs = ask.large ? timeoutMs : ATTEMPT_MS + size / UPLOAD_BYTES_PER_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        const left = ends - performance.now();
        return await this.#attempt(ask, { signal, key, body, limitMs: Math.min(left, attemptMs) }, take);
      } catch (error) {
        if (attempt > 0 && ask.gone && error instanceof MessagingApiError && error.status === 404) return ask.gone as T;
        if (attempt >= retries || !isTransient(error, ask)) throw error;
        const waitMs = pauseAfter(error, attempt);
        if (waitMs > maxPauseMs || performance.now() + waitMs >= ends) throw error;
        await pause(waitMs, signal);
      }
    }
  }

  /**
   * Returns the events of a stream. If the connection breaks or is silent, the client opens it again after the last event's id,
   * as often as needed. If the service refuses the request, the call throws.
   */
  async *events(
    ask: Ask,
    { signal, onState = () => {} }: StreamCallOptions = {},
  ): AsyncGenerator<{ readonly type: string; readonly data: string }, void> {
    let lastId: string | undefined;
    for (let failures = 0; ; failures++) {
      let error: MessagingApiError | undefined;
      try {
        const context = { signal, lastId, limitMs: ATTEMPT_MS };
        const response = await this.#attempt(
          { ...ask, accept: 'text/event-stream' },
          context,
          async (opened) => opened,
        );
        onState('open');
        for await (const event of readEvents(response, SILENCE_MS, signal)) {
          failures = 0;
          lastId = event.id ?? lastId;
          if (event.data !== undefined) yield { type: event.type, data: event.data };
        }
      } catch (thrown) {
        signal?.throwIfAborted();
        if (!isTransient(thrown, ask)) throw thrown;
        error = thrown;
      }
      onState('waiting', error);
      await pause(pauseAfter(error, failures), signal);
    }
  }

  async #attempt<T>(
    { method = 'GET', path, query = {}, credentials, accept = 'application/json' }: Ask,
    {
      signal,
      key,
      lastId,
      body,
      limitMs,
    }: {
      readonly signal: AbortSignal | undefined;
      readonly key?: string | undefined;
      readonly lastId?: string | undefined;
      /** JSON, or a file. */
      readonly body?: string | Blob | undefined;
      readonly limitMs: number;
    },
    take: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { baseUrl, account, fetch = globalThis.fetch } = this.#options;
    const headers: Record<string, string> = {
      accept,
      ...(body && { 'content-type': typeof body === 'string' ? 'application/json' : 'text/csv' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(lastId !== undefined && { 'last-event-id': lastId }),
    };
    const url = `${baseUrl.replace(/\/+$/, '')}/${path.map(encoded).join('/')}${search({ account, ...query })}`;
    const init: RequestInit = { method, redirect: 'manual', ...(body && { body }) };
    const tokenFaults: { readonly error: unknown }[] = [];
    try {
      return await limited(limitMs, signal, async (within) => {
        const send = (own: Readonly<Record<string, string>>): Promise<Response> =>
          fetch(url, { ...init, headers: { ...headers, ...own }, signal: within });
        const tokenFor = (refused?: string): Promise<string | undefined> =>
          this.#token(credentials, refused).catch((error: unknown) => {
            tokenFaults.push({ error });
            throw error;
          });
        const token = await tokenFor();
        let response = await send(this.#header(credentials, token));
        if (response.status === 401 && token !== undefined) {
          const renewed = await tokenFor(token);
          if (renewed !== token) {
            void response.body?.cancel();
            response = await send(this.#header(credentials, renewed));
          }
        }
        if (!response.ok) throw await errorOf(response, key);
        return take(response);
      });
    } catch (error) {
      if (error instanceof MessagingApiError) throw error;
      for (const fault of tokenFaults) throw fault.error;
      signal?.throwIfAborted();
      const code = error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'network_error';
      throw new MessagingApiError(0, code, `No answer: ${error}`, { cause: error, idempotencyKey: key });
    }
  }

  /** Returns the user token of a request, or undefined if it has none. */
  async #token(credentials: Ask['credentials'], refused?: string): Promise<string | undefined> {
    const { apiKey, token } = this.#options;
    if (credentials === 'none' || apiKey !== undefined) return undefined;
    if (token !== undefined) return token(refused);
    if (credentials === 'if-any') return undefined;
    throw new TypeError('This call needs an apiKey or a token.');
  }

  #header(credentials: Ask['credentials'], token: string | undefined): Readonly<Record<string, string>> {
    const { apiKey, tokenHeader } = this.#options;
    if (token !== undefined) {
      return tokenHeader === 'x-user-token' ? { 'x-user-token': token } : { authorization: `Bearer ${token}` };
    }
    return apiKey === undefined || credentials === 'none' ? {} : { 'x-api-key': apiKey };
  }
}

/** Whether another attempt of the same call can succeed and does no harm. */
function isTransient(error: unknown, { repeat }: Ask): error is MessagingApiError {
  if (!(error instanceof MessagingApiError)) return false;
  const { status, code } = error;
  // `idempotency_running`: an earlier attempt, whose answer was lost, is still running. `number_reconnecting`: nothing was
  // charged or sent, and the number is soon connected again.
  if (status === 429 || code === 'idempotency_running' || code === 'number_reconnecting') return true;
  return repeat !== 'unsafe' && ([502, 503, 504].includes(status) || code === 'timeout' || code === 'network_error');
}

/**
 * Returns the milliseconds until the next attempt: at least `Retry-After`, plus a random part that doubles with each attempt, so
 * that not all clients come at once.
 */
function pauseAfter(error: unknown, attempt: number): number {
  const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  const asked = error instanceof MessagingApiError ? (error.retryAfter ?? 0) * 1000 : 0;
  return asked + longest * (0.5 + Math.random() / 2);
}

/** Returns 128 random bits in hexadecimal. `crypto.randomUUID` does not exist on pages without TLS. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function encoded(step: string): string {
  // A URL drops the steps `.` and `..` and an empty step, so the request would go to another route.
  if (/^\.{0,2}$/.test(step)) throw new TypeError(`"${step}" is not an id.`);
  return encodeURIComponent(step);
}

function search(query: object): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    if (typeof value !== 'object' || Array.isArray(value)) return [[name, String(value)]];
    return Object.entries(value).map(([key, each]) => [`${name}.${key}`, String(each)]);
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
