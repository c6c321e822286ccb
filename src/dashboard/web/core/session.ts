import { signal } from '@preact/signals';
import { ManagementClient, type Me, MessagingApiError, type SignedIn } from '../../../client/manage/index.js';
import { CLIENT_OPTIONS } from './client-options.js';
import { isEmbedded, linkFromHost } from './embedding.js';
import { isPassing, isUnreachable } from './errors.js';
import { offerLanguage } from './i18n.js';
import { place } from './place.js';
import { replaceAddress } from './router.js';
import { home } from './typed-number.js';

/** `lost`: the session ended while somebody works, so the screen stays. `away`: the server did not answer at the start. */
export type SessionState = 'starting' | 'out' | 'in' | 'lost' | 'away';

export const sessionState = signal<SessionState>('starting');

/** The signed-in user, with the user's rights. */
export const me = signal<Me | undefined>(undefined);

/** The error of the last sign-in, for the sign-in screen. */
export const refusal = signal<unknown>(undefined);

/** The access token. It is kept in memory only. */
let token: string | undefined;
let renewing: Promise<boolean> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The calls for signing in and out. All other calls use the clients of `clients.ts`. */
const { session, account } = new ManagementClient({ ...CLIENT_OPTIONS, token: userToken });

/** A right of a user. */
export type Permission = Me['permissions'][number];

export function can(permission: Permission): boolean {
  return me.value?.permissions.includes(permission) ?? false;
}

/** Signs in with the link in the address, or with the cookie of an earlier session. */
export async function start(): Promise<void> {
  sessionState.value = 'starting';
  const link = takeLink();
  try {
    if (link !== undefined) await exchange({ token: link });
    else if (isEmbedded()) await exchange({ token: await linkFromHost() });
    else if (await tryRefresh()) await enter();
    // The host recognises its user by its own cookie.
    else if (place.signIn === 'host') await exchange({ credentials: {} });
    else sessionState.value = 'out';
  } catch (error) {
    fail(error);
  }
}

/** Takes the secret of a link out of the address and the history, and returns it. */
function takeLink(): string | undefined {
  const secret = secretOf(location.hash);
  if (secret !== undefined) replaceAddress('#/');
  return secret;
}

/** Returns the secret in a link. Undefined if the text is not a link. */
export function secretOf(text: string): string | undefined {
  return /#link=([^&\s]+)/.exec(text)?.[1];
}

addEventListener('hashchange', () => {
  if (secretOf(location.hash) !== undefined) void start();
});

/**
 * Exchanges a link or credentials for a session.
 * @throws MessagingApiError if they are refused, or if no answer comes
 */
export async function exchange(proof: { readonly token: string } | { readonly credentials: unknown }): Promise<void> {
  accept(await session.exchange(proof).catch(asRefusal));
  await enter();
}

/**
 * Throws the error of a refused sign-in. Here a 401 means a refused link. Everywhere else it means that the session has ended.
 */
function asRefusal(error: unknown): never {
  if (!(error instanceof MessagingApiError) || error.status !== 401) throw error;
  throw new MessagingApiError(401, 'link_refused', error.message);
}

/** Signs out, in this page and on the server. */
export async function signOut(): Promise<void> {
  await session.end().catch(() => undefined);
  forget('out');
  me.value = undefined;
  location.hash = '#/';
}

/**
 * Returns the access token for a request. It is renewed if there is none, or if the service has refused it.
 * @throws MessagingApiError 401 if the session has ended
 */
export async function userToken(refused?: string): Promise<string> {
  if ((token === undefined || token === refused) && !(await renew())) throw ended();
  if (token === undefined) throw ended();
  return token;
}

function ended(): MessagingApiError {
  return new MessagingApiError(401, 'unauthorized', 'The session has ended.');
}

/** Renews the access token once for all requests that wait for it. @returns false if the session has ended */
function renew(): Promise<boolean> {
  renewing ??= tryRenew().finally(() => {
    renewing = undefined;
  });
  return renewing;
}

async function tryRenew(): Promise<boolean> {
  if (isEmbedded()) {
    accept(await session.exchange({ token: await linkFromHost() }));
    return true;
  }
  if (await tryRefresh()) return true;
  forget(me.value ? 'lost' : 'out');
  return false;
}

/** Refreshes the session. Tabs wait for each other, because each refresh replaces the cookie that they share. */
async function tryRefresh(): Promise<boolean> {
  const refresh = async (): Promise<boolean> => {
    try {
      // The other tabs wait for this one.
      accept(await session.refresh({ timeoutMs: 60_000 }));
      return true;
    } catch (error) {
      if (error instanceof MessagingApiError && !isPassing(error)) return false;
      throw error;
    }
  };
  // Browsers have no locks on plain HTTP. The service then accepts a cookie that was replaced a moment ago.
  return navigator.locks ? navigator.locks.request('messaging.session', refresh) : refresh();
}

function accept({ access_token, expires_in }: SignedIn): void {
  token = access_token;
  clearTimeout(timer);
  timer = setTimeout(() => void renew().catch(() => undefined), Math.max(expires_in - 60, 5) * 1000);
}

/** Reads who is signed in, then shows the screens. */
async function enter(): Promise<void> {
  const who = await account.me();
  home.market = who.home;
  me.value = who;
  offerLanguage(who.locale);
  refusal.value = undefined;
  sessionState.value = 'in';
}

function fail(error: unknown): void {
  refusal.value = error;
  forget(isUnreachable(error) ? 'away' : 'out');
}

function forget(state: SessionState): void {
  token = undefined;
  clearTimeout(timer);
  sessionState.value = state;
}
