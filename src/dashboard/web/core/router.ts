import { signal } from '@preact/signals';

/** A parsed `#/keys/abc?status=active`. */
export interface Address {
  /** Without slashes at its ends; empty for the first screen. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Where the user is. */
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
 * The `href` of a screen. An operator who looks at an account goes on looking at it: `account` is kept unless it is named.
 * @param path such as `messages/m1`; parts that come from elsewhere go through `encodeURIComponent`
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

/** Changes filters of the present screen; the address changes with them, the history does not grow. */
export function setQuery(changes: Query): void {
  const query = { ...Object.fromEntries(address.value.query), ...changes };
  history.replaceState(history.state, '', hrefOf(address.value.path, query));
  address.value = read();
}

/** Replaces the present address; the earlier one is not kept anywhere. */
export function replaceAddress(hash: string): void {
  history.replaceState(null, '', `${location.pathname}${location.search}${hash}`);
  address.value = read();
}

/** A filter of the present screen; empty where it is not set. */
export function queryValue(name: string): string {
  return address.value.query.get(name) ?? '';
}

/** A filter of the present screen as the API takes it; undefined where it is not set. */
export function filterOf(name: string): string | undefined {
  return queryValue(name) || undefined;
}

/** A filter of the present screen that has one of these values; undefined where it is not set, or has another one. */
export function choiceOf<T extends string>(name: string, values: readonly T[]): T | undefined {
  return values.find((each) => each === queryValue(name));
}

/** The account that an operator looks at; undefined for users of an account. */
export function chosenAccount(): string | undefined {
  return address.value.query.get('account') ?? undefined;
}
