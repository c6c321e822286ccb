import { any, choice, formatValue, list, OptionPlace, type OptionsOf, optionalGroup, text } from '../common/options.js';
import { mountPath } from '../http/http-settings.js';

/** Where the dashboard is mounted, and how it looks. */
export interface DashboardOptions {
  /**
   * Mount path of the page, below the host's global prefix if there is one: segments as in the service's own `path`. Default
   * `dashboard`.
   */
  readonly path?: string | undefined;
  /** What the page calls itself, 1 to 60 characters. Default `Messaging`. */
  readonly name?: string | undefined;
  /** Address of a picture beside the name: a path of this server, an `https:` URL, or a `data:image/…` URL. Default none. */
  readonly logo?: string | undefined;
  /** Colours that replace those of the page, each as `#rrggbb`. */
  readonly colors?: DashboardColors | undefined;
  /** The language of the page: `fr` or `en`. Users may choose another one. Default that of their browser. */
  readonly locale?: 'fr' | 'en' | undefined;
  /**
   * Address of the API, where a proxy moves page and API apart: a path of the public server, for instance `/sms/api/v1`, or a
   * URL. Default: worked out from both mount paths, relative to the page.
   */
  readonly apiUrl?: string | undefined;
  /**
   * How people sign in besides by links: `password` asks for a user name and a password and gives them to the host's
   * `UserAuthenticator` as `{ username, password }`; `host` calls it with `{}`, for those whom the host knows by its own cookie.
   * Default `link`.
   */
  readonly signIn?: 'link' | 'password' | 'host' | undefined;
  /** Address at which the host signs its users in, for a button on the sign-in screen: a path or a URL. Default none. */
  readonly signInUrl?: string | undefined;
  /**
   * Origins of pages that may show the dashboard in a frame, and sign their users in by handing it one-time links
   * (`docs/dashboard.md`). Default none.
   */
  readonly frameAncestors?: readonly string[] | undefined;
}

/** Colours of the page, as `#rrggbb`. Text on `brand` is `brandText`. */
export interface DashboardColors {
  /** Main buttons, the present screen, links in the light theme. */
  readonly brand?: string | undefined;
  /** Text on `brand`. */
  readonly brandText?: string | undefined;
  /** As `brand`, in the dark theme. */
  readonly darkBrand?: string | undefined;
  /** Text on `darkBrand`. */
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
 * @throws MessagingOptionsError naming the wrong option
 */
export function resolveDashboardOptions(options?: DashboardOptions): ResolvedDashboardOptions {
  return DASHBOARD_OPTIONS.read(options, PLACE);
}

function addressOf(given: unknown, place: OptionPlace, further = /^$(?!)/): string {
  // Not `//`, which begins with the name of another server.
  const isAddress =
    typeof given === 'string' && (/^(\/(?!\/)|https?:\/\/)[^\s\\"]*$/.test(given) || further.test(given));
  if (isAddress && given.length <= 100_000) return given;
  return place.refuse(`must be a path of this server or a URL; got ${formatValue(given)}`);
}

function origin(given: unknown, place: OptionPlace): string {
  if (typeof given === 'string' && /^https?:\/\/[\w.-]+(:\d+)?$/.test(given)) return given.toLowerCase();
  return place.refuse(`must be an origin, such as "https://app.example.test"; got ${formatValue(given)}`);
}
