import { hearTime } from './clock.js';
import { AwayError, errorOf } from './errors.js';
import { place } from './place.js';
import { chosenAccount } from './router.js';
import { accessToken, renew, tokenHeader } from './session.js';

type QueryValue = string | number | boolean | undefined;

export interface RequestOptions {
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** The same for every attempt at the same change, so that it is made once. */
  readonly key?: string | undefined;
  /** Default JSON. */
  readonly accept?: string;
}

/** A list of the API. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** Calls of the API. An operator's calls about an account name it by themselves. */
export const api = {
  get: <T>(path: string, query?: RequestOptions['query'], signal?: AbortSignal) =>
    call<T>('GET', path, { query, signal }),
  post: <T>(path: string, body: unknown, key: string, signal?: AbortSignal) =>
    call<T>('POST', path, { body, key, signal }),
  patch: <T>(path: string, body: unknown) => call<T>('PATCH', path, { body }),
  delete: <T>(path: string, query?: RequestOptions['query']) => call<T>('DELETE', path, { query }),
  /** The answer itself, for downloads and streams. */
  open: (path: string, options: RequestOptions = {}) => send('GET', path, options),
};

/** A key for one change; kept until it has succeeded. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (each) => each.toString(16).padStart(2, '0')).join('');
}

async function call<T>(method: string, path: string, options: RequestOptions): Promise<T> {
  const response = await send(method, path, options);
  try {
    return await response.json();
  } catch (error) {
    throw options.signal?.aborted ? error : new AwayError(String(error));
  }
}

/** Sends with the access token; after a 401 once more with a fresh one. */
async function send(method: string, path: string, options: RequestOptions): Promise<Response> {
  const used = accessToken();
  const first = await attempt(method, path, options, used);
  if (first.status !== 401) return checked(first);
  if (!(await renew(used))) throw await errorOf(first);
  return checked(await attempt(method, path, options, accessToken()));
}

async function attempt(
  method: string,
  path: string,
  { query = {}, body, signal, key, accept = 'application/json' }: RequestOptions,
  token: string | undefined,
): Promise<Response> {
  const url = new URL(path, place.api);
  const account = /^(manage|session)\//.test(path) ? undefined : chosenAccount();
  for (const [name, value] of Object.entries({ account, ...query })) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  const headers = new Headers({ Accept: accept, ...tokenHeader(token) });
  if (key !== undefined) headers.set('Idempotency-Key', key);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  try {
    const response = await fetch(url, {
      method,
      headers,
      cache: 'no-store',
      credentials: 'same-origin',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    hearTime(response);
    return response;
  } catch (error) {
    throw signal?.aborted ? error : new AwayError(String(error));
  }
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw await errorOf(response);
}
