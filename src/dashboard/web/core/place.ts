/** Settings that the server has written into the page: the address of the API, and the looks that the host wants. */
export interface Place {
  /** The URL of the API. It ends with a slash. */
  readonly api: string;
  readonly name: string;
  /** The address of a picture. Undefined: only the name is shown. */
  readonly logo: string | undefined;
  /** The language that the host has chosen. Undefined: the browser's language. */
  readonly locale: string | undefined;
  /** The origins of pages that may embed this page and give it sign-in links. */
  readonly hosts: readonly string[];
  /** The way in which people sign in, as in `DashboardOptions`. */
  readonly signIn: 'link' | 'password' | 'host';
  /** The address of the host's own sign-in page. Undefined if there is none. */
  readonly signInUrl: string | undefined;
}

const { dataset } = document.documentElement;

/** The folder of the page. It is correct even if the page was opened without the slash at the end of its address. */
const folder = new URL(dataset.base ?? './', location.href);

export const place: Place = {
  api: withSlash(new URL(dataset.api ?? '../api/v1', folder).href),
  name: dataset.name ?? 'Messaging',
  logo: dataset.logo,
  locale: dataset.locale,
  hosts: (dataset.hosts ?? '').split(' ').filter((each) => each !== ''),
  signIn: dataset.signIn === 'password' || dataset.signIn === 'host' ? dataset.signIn : 'link',
  signInUrl: dataset.signInUrl,
};

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
