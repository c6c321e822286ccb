import { signal } from '@preact/signals';
import type { Me, Session } from '../api-types.js';
import { isEmbedded, linkFromHost } from './embedding.js';
import { ApiError, AwayError, errorOf } from './errors.js';
import { offerLanguage } from './i18n.js';
import { place } from './place.js';
import { replaceAddress } from './router.js';

/** `lost`: signed out while working, so what is on the screen is kept. `away`: the server did not answer at the start. */
export type SessionState = 'starting' | 'out' | 'in' | 'lost' | 'away';

export const sessionState = signal<SessionState>('starting');

/** Who is signed in, and what they may. */
export const me = signal<Me | undefined>(undefined);

/** Why the last link was refused, for the sign-in screen. */
export const refusal = signal<unknown>(undefined);

/** In memory only. */
let token: string | undefined;
let renewing: Promise<boolean> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

export function accessToken(): string | undefined {
  return token;
}

/**
 * The header with a token. On the page's own origin `Authorization` is left to the browser: behind a proxy with Basic
 * authentication it puts the proxy's credentials there. An API elsewhere gets the header that its CORS answers know.
 */
export function tokenHeader(of: string | undefined): Readonly<Record<string, string>> {
  if (of === undefined) return {};
  return new URL(place.api).origin === location.origin ? { 'X-User-Token': of } : { Authorization: `Bearer ${of}` };
}

export function can(permission: string): boolean {
  return me.value?.permissions.includes(permission) ?? false;
}

/** Signs in by the link in the address, or by the cookie of an earlier session. */
export async function start(): Promise<void> {
  sessionState.value = 'starting';
  const link = takeLink();
  try {
    if (link !== undefined) await exchange({ token: link });
    else if (isEmbedded()) await exchange({ token: await linkFromHost() });
    else if (await tryRefresh()) await enter();
    // The host's own cookie says who it is.
    else if (place.signIn === 'host') await exchange({ credentials: {} });
    else sessionState.value = 'out';
  } catch (error) {
    fail(error);
  }
}

/** The secret of a link, which is removed from the address and from the history at once. */
function takeLink(): string | undefined {
  const secret = secretOf(location.hash);
  if (secret !== undefined) replaceAddress('#/');
  return secret;
}

/** The secret in a link, or the text itself where only the secret was pasted. */
export function secretOf(text: string): string | undefined {
  return /#link=([^&\s]+)/.exec(text)?.[1];
}

addEventListener('hashchange', () => {
  if (secretOf(location.hash) !== undefined) void start();
});

/**
 * Exchanges a link or credentials for a session.
 * @throws ApiError when they are refused
 * @throws AwayError
 */
export async function exchange(body: { readonly token: string } | { readonly credentials: unknown }): Promise<void> {
  accept(await post('session/exchange', body).catch(asRefusal));
  await enter();
}

/** A 401 means a lost session everywhere but here. */
function asRefusal(error: unknown): never {
  throw error instanceof ApiError && error.status === 401 ? new ApiError(401, 'link_refused', error.message) : error;
}

/** Ends the session here and on the server. */
export async function signOut(): Promise<void> {
  // Without a cookie, in a frame, the token says which session it is.
  const headers = { 'Content-Type': 'application/json', ...tokenHeader(token) };
  await send('session/end', { method: 'POST', headers, body: '{}' }).catch(() => undefined);
  forget('out');
  me.value = undefined;
  location.hash = '#/';
}

/**
 * Gets a fresh access token, one at a time, also over the tabs of this browser.
 * @param used the token that was refused; a newer one is good already
 * @returns false when the session has ended
 * @throws AwayError
 */
export async function renew(used: string | undefined): Promise<boolean> {
  if (token !== undefined && token !== used) return true;
  renewing ??= tryRenew().finally(() => {
    renewing = undefined;
  });
  return renewing;
}

async function tryRenew(): Promise<boolean> {
  if (isEmbedded()) {
    accept(await post('session/exchange', { token: await linkFromHost() }));
    return true;
  }
  if (await tryRefresh()) return true;
  forget(me.value ? 'lost' : 'out');
  return false;
}

/** Tabs wait for each other, because each refresh replaces the cookie that they share. */
async function tryRefresh(): Promise<boolean> {
  const refresh = async (): Promise<boolean> => {
    try {
      accept(await post('session/refresh', {}));
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) return false;
      throw error;
    }
  };
  // Not there on plain HTTP; the server then forgives the cookie that was just replaced.
  return navigator.locks ? navigator.locks.request('messaging.session', refresh) : refresh();
}

function accept({ access_token, expires_in }: Session): void {
  token = access_token;
  clearTimeout(timer);
  const used = token;
  timer = setTimeout(() => void renew(used).catch(() => undefined), Math.max(expires_in - 60, 5) * 1000);
}

/** Reads who is signed in; then the screens are shown. */
async function enter(): Promise<void> {
  const who: Me = await (await send('me', { headers: tokenHeader(token) })).json();
  me.value = who;
  offerLanguage(who.locale);
  refusal.value = undefined;
  sessionState.value = 'in';
}

function fail(error: unknown): void {
  refusal.value = error;
  forget(error instanceof AwayError ? 'away' : 'out');
}

function forget(state: SessionState): void {
  token = undefined;
  clearTimeout(timer);
  sessionState.value = state;
}

async function post(path: string, body: unknown): Promise<Session> {
  const headers = { 'Content-Type': 'application/json' };
  return (await send(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

/** How long the server may take to answer, in milliseconds. */
const PATIENCE = 60_000;

async function send(path: string, options: RequestInit): Promise<Response> {
  const response = await fetch(new URL(path, place.api), {
    cache: 'no-store',
    credentials: 'same-origin',
    // The other tabs wait for the one that renews the session.
    signal: AbortSignal.timeout(PATIENCE),
    ...options,
  }).catch((error: unknown) => {
    throw new AwayError(String(error));
  });
  if (response.ok) return response;
  throw await errorOf(response);
}
