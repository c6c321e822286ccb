import { MessagingApiError } from '../../../client/index.js';
import { manage, messaging } from '../core/clients.js';
import { texts } from '../core/i18n.js';
import { hrefOf } from '../core/router.js';
import { isVisible, SCREENS, screenName } from '../core/screens.js';
import { can, me } from '../core/session.js';
import { readNumber } from '../core/typed-number.js';

const t = texts(
  {
    toNumber: 'Messages to {number}',
    writeTo: 'Write to {number}',
    optouts: 'Opt-outs of {number}',
    message: 'Message {id}',
    endpoint: 'Webhook endpoint {id}',
    account: 'Account {name}',
    key: 'Key {name}',
  },
  {
    toNumber: 'Messages à {number}',
    writeTo: 'Écrire à {number}',
    optouts: 'Désinscriptions de {number}',
    message: 'Message {id}',
    endpoint: 'Point de terminaison {id}',
    account: 'Compte {name}',
    key: 'Clé {name}',
  },
);

/** A result of the search: its name and its address. */
export interface Finding {
  readonly name: string;
  readonly href: string;
}

/** Returns a text in lower case and without accents, so that `cles` finds “Clés”. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Returns the results that need no request: screens by name, and the actions for a phone number. */
export function findingsOf(typed: string): readonly Finding[] {
  const wanted = plain(typed.trim());
  const screens = SCREENS.filter(isVisible)
    .filter((each) => plain(screenName(each)).includes(wanted))
    .map((each) => ({ name: screenName(each), href: hrefOf(each.path) }));
  const number = readNumber(typed);
  return number === undefined ? screens : [...numberFindings(number), ...screens];
}

function numberFindings(number: string): readonly Finding[] {
  const places = [
    ['messages', 'toNumber'],
    ['optouts', 'optouts'],
  ] as const;
  return places.flatMap(([path, key]) => {
    const screen = SCREENS.find((each) => each.path === path);
    return screen && isVisible(screen)
      ? [{ name: t(key, { number: `+${number}` }), href: hrefOf(path, { number }) }]
      : [];
  });
}

/** Asks the service for further results: a message or an endpoint by its id, and the accounts of the operator. */
export async function lookFor(typed: string, signal: AbortSignal): Promise<readonly Finding[]> {
  const wanted = typed.trim();
  if (wanted.length < 2) return [];
  const found = await Promise.all([accounts(wanted, signal), messages(wanted, signal), endpoints(wanted, signal)]);
  return found.flat();
}

async function accounts(wanted: string, signal: AbortSignal): Promise<readonly Finding[]> {
  if (!can('manage.read')) return [];
  const { items } = await manage().operator.accounts({ query: wanted, limit: 8 }, { signal }).page();
  return items.map(({ id, name }) => ({
    name: t('account', { name: name === id ? name : `${name} (${id})` }),
    href: hrefOf(`manage/accounts/${encodeURIComponent(id)}`),
  }));
}

/** Whether a text may be the id of a message. Such ids are long, and a host may choose their form. */
function mayBeId(wanted: string): boolean {
  return /^[\w-]{12,64}$/.test(wanted);
}

async function messages(id: string, signal: AbortSignal): Promise<readonly Finding[]> {
  if (!mayBeId(id) || !can('messages.read') || !hasAccount()) return [];
  const { sms = false, msgapp = [] } = me.value?.capabilities ?? {};
  // This asks for the recipients, not for the message, because the audit log records each text that an operator reads.
  const asked = [
    ...(sms ? [{ channel: undefined, answer: messaging().sms.recipients(id, { limit: 1 }, { signal }).page() }] : []),
    ...msgapp.map((channel) => ({ channel, answer: messaging().msgapp(channel).message(id, { signal }) })),
  ];
  const found = await Promise.all(
    asked.map(async ({ channel, answer }) => {
      const isThere = await answer.then(() => true, notFound);
      return isThere ? [{ name: t('message', { id }), href: hrefOf(`messages/${id}`, { channel }) }] : [];
    }),
  );
  return found.flat();
}

async function endpoints(id: string, signal: AbortSignal): Promise<readonly Finding[]> {
  if (!mayBeId(id) || !can('events.read') || !hasAccount() || !me.value?.capabilities.webhooks) return [];
  const isThere = await messaging()
    .webhooks.get(id, { signal })
    .then(() => true, notFound);
  return isThere ? [{ name: t('endpoint', { id }), href: hrefOf(`webhooks/${id}`) }] : [];
}

function hasAccount(): boolean {
  return me.value?.account !== null || new URLSearchParams(location.hash.split('?')[1]).has('account');
}

function notFound(error: unknown): false {
  if (error instanceof MessagingApiError && error.status >= 400 && error.status < 500) return false;
  throw error;
}
