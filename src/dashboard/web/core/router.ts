import { signal } from '@preact/signals';

/** A parsed `#/keys/abc?status=active`. */
export interface Address {
  /** The path without slashes at either end. Empty for the first screen. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The current address. */
export const address = signal<Address>(read());

addEventListener('hashchange', () => {
  address.value = read();
});

function read(): Address {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { path: path.replace(/\/$/, ''), query: new URLSearchParams(query) };
}

type Query = Readonly<Record<string, string | undefined>>;

/**
 * Returns the `href` of a screen. If an operator has chosen an account, the link keeps it, unless the query names another one.
 * @param path for example `messages/m1`. The caller encodes ids with `encodeURIComponent`
 */
export function hrefOf(path: string, query: Query = {}): string {
  const account = address.value.query.get('account') ?? undefined;
  const entries = Object.entries({ account: path.startsWith('manage') ? undefined : account, ...query }).flatMap(
    ([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]),
  );
  const search = new URLSearchParams(entries).toString();
  return `#/${path}${search === '' ? '' : `?${search}`}`;
}

/** Goes to a screen. */
export function go(path: string, query?: Query): void {
  location.hash = hrefOf(path, query);
}

/** Changes filters of the current screen. They are kept in the address, without a new entry in the history. */
export function setQuery(changes: Query): void {
  const query = { ...Object.fromEntries(address.value.query), ...changes };
  history.replaceState(history.state, '', hrefOf(address.value.path, query));
  address.value = read();
}

/** Replaces the current address, so that the history does not contain the old one. */
export function replaceAddress(hash: string): void {
  history.replaceState(null, '', `${location.pathname}${location.search}${hash}`);
  address.value = read();
}

/** Returns the value of a filter of the current screen. Empty if it is not set. */
export function queryValue(name: string): string {
  return address.value.query.get(name) ?? '';
}

/** Returns the value of a filter of the current screen. Undefined if it is not set. */
export function filterOf(name: string): string | undefined {
  return queryValue(name) || undefined;
}

/** Returns the value of a filter of the current screen, if it is one of these values. Else undefined. */
export function choiceOf<T extends string>(name: string, values: readonly T[]): T | undefined {
  return values.find((each) => each === queryValue(name));
}

/** Returns the account that an operator has chosen. Undefined for users of an account. */
export function chosenAccount(): string | undefined {
  return address.value.query.get('account') ?? undefined;
}
