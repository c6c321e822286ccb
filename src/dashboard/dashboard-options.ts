import { any, choice, formatValue, list, OptionPlace, type OptionsOf, optionalGroup, text } from '../common/options.js';
import { mountPath } from '../http/http-options.js';

/** The options of the dashboard: its path, its looks, and how people sign in. */
export interface DashboardOptions {
  /**
   * The path of the page below the host's global prefix. Its segments follow the same rules as the service's own `path`. Default:
   * `dashboard`.
   */
  readonly path?: string | undefined;
  /** The name that the page shows, 1 to 60 characters. Default: `Messaging`. */
  readonly name?: string | undefined;
  /** The address of a picture next to the name: a path of this server, an `https:` URL or a `data:image/…` URL. Default: none. */
  readonly logo?: string | undefined;
  /** Colours that replace the page's own colours, each as `#rrggbb`. */
  readonly colors?: DashboardColors | undefined;
  /** The language of the page: `fr` or `en`. Users can choose the other language. Default: the language of their browser. */
  readonly locale?: 'fr' | 'en' | undefined;
  /**
   * The address of the API: a path of the public server such as `/sms/api/v1`, or a URL. It is needed if a proxy moves only the
   * page or only the API. Default: relative to the page, computed from both mount paths.
   */
  readonly apiUrl?: string | undefined;
  /**
   * How people sign in without a link. `password`: the page asks for a user name and a password, and the host's
   * `UserAuthenticator` gets `{ username, password }`. `host`: the `UserAuthenticator` gets `{}`, because the host recognises its
   * users by its own cookie. Default: `link`, links only.
   */
  readonly signIn?: 'link' | 'password' | 'host' | undefined;
  /** The host's own sign-in page, a path or a URL. The sign-in screen shows a button that opens it. Default: none. */
  readonly signInUrl?: string | undefined;
  /**
   * The origins of pages that may show the dashboard in a frame and sign their users in by giving it one-time links
   * (`docs/dashboard.md`). Default: none.
   */
  readonly frameAncestors?: readonly string[] | undefined;
}

/** The colours of the page, each as `#rrggbb`. */
export interface DashboardColors {
  /** The colour of main buttons, links and the current screen in the light theme. */
  readonly brand?: string | undefined;
  /** The colour of text on `brand`. */
  readonly brandText?: string | undefined;
  /** Like `brand`, for the dark theme. */
  readonly darkBrand?: string | undefined;
  /** The colour of text on `darkBrand`. */
  readonly darkBrandText?: string | undefined;
}

const COLOR = text(/^#[0-9a-f]{6}$/i, 'a colour such as "#2f5bd0"');

const DASHBOARD_OPTIONS = optionalGroup({
  path: any((given, place) => mountPath(given, 'dashboard', place)).or('dashboard'),
  name: text(/^\S(.{0,58}\S)?$/u, 'a text of 1 to 60 characters').or('Messaging'),
  logo: any((given, place) => addressOf(given, place, /^data:image\/[\w.+-]+[;,][^\s"\\]*$/)).or(undefined),
  colors: optionalGroup({
    brand: COLOR.or(undefined),
    brandText: COLOR.or(undefined),
    darkBrand: COLOR.or(undefined),
    darkBrandText: COLOR.or(undefined),
  } satisfies OptionsOf<DashboardColors>),
  locale: choice('fr', 'en').or(undefined),
  apiUrl: any((given, place) => addressOf(given, place)).or(undefined),
  signIn: choice('link', 'password', 'host').or('link'),
  signInUrl: any((given, place) => addressOf(given, place)).or(undefined),
  frameAncestors: list(any(origin), 'origins').or([]),
} satisfies OptionsOf<DashboardOptions>);

/** `DashboardOptions` with every default filled in. */
export type ResolvedDashboardOptions = ReturnType<typeof DASHBOARD_OPTIONS.read>;

const PLACE = new OptionPlace('', (path) => `DashboardModule: ${path === '' ? 'the options' : `option ${path}`}`);

/**
 * Checks the options and fills in the defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveDashboardOptions(options?: DashboardOptions): ResolvedDashboardOptions {
  return DASHBOARD_OPTIONS.read(options, PLACE);
}

function addressOf(given: unknown, place: OptionPlace, further = /^$(?!)/): string {
  // `//` is refused, because the name of another server follows it.
  const isAddress =
    typeof given === 'string' && (/^(\/(?!\/)|https?:\/\/)[^\s\\"]*$/.test(given) || further.test(given));
  if (isAddress && given.length <= 100_000) return given;
  return place.refuse(`must be a path of this server or a URL; got ${formatValue(given)}`);
}

function origin(given: unknown, place: OptionPlace): string {
  if (typeof given === 'string' && /^https?:\/\/[\w.-]+(:\d+)?$/.test(given)) return given.toLowerCase();
  return place.refuse(`must be an origin, such as "https://app.example.test"; got ${formatValue(given)}`);
}
