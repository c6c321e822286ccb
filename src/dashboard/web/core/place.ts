/** What the server wrote into the page: where the API is, and how the host wants the page to look. */
export interface Place {
  /** URL of the API, with a slash at its end. */
  readonly api: string;
  readonly name: string;
  /** Address of a picture; undefined: the name alone. */
  readonly logo: string | undefined;
  /** The language that the host asks for; undefined: the browser's. */
  readonly locale: string | undefined;
  /** Origins of pages that may embed this one and hand it links. */
  readonly hosts: readonly string[];
  /** What the sign-in screen asks for. */
  readonly signIn: 'link' | 'password' | 'host';
  /** Where the host signs its users in; undefined: nowhere. */
  readonly signInUrl: string | undefined;
}

const { dataset } = document.documentElement;

/** The folder that the page stands in, also when its address was opened without the slash at its end. */
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
