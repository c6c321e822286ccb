import { any, boolean, choice, group, list, type OptionPlace, type OptionsOf, text } from '../../common/options.js';

/** A claim of a token: its name, or a function of all claims. */
export type ClaimSource = string | ((claims: Readonly<Record<string, unknown>>) => unknown);

/** The claims that say who a user is. */
export interface OidcClaims {
  /** The id of the account. Users with a role of the operator need none. */
  readonly account?: ClaimSource | undefined;
  /**
   * The role: `viewer`, `sender`, `developer`, `admin`, or one of the operator. Default none: the user may use the routes that
   * need no role, which are sends and look-ups.
   */
  readonly role?: ClaimSource | undefined;
  /** The user's name in the audit log, 1 to 128 characters. Default `sub`. */
  readonly subject?: ClaimSource | undefined;
}

/** The signature algorithms that a provider may use: asymmetric ones only. */
export const OIDC_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const;

/** An algorithm by which a provider may sign its tokens. */
export type OidcAlgorithm = (typeof OIDC_ALGORITHMS)[number];

/** Options of `OidcUserTokenVerifier.forRoot`. */
export interface OidcOptions {
  /** The issuer, exactly as the provider's tokens have it in `iss`: an https address. */
  readonly issuer: string;
  /** The value that `aud` of the tokens must contain. */
  readonly audience: string;
  readonly claims: OidcClaims;
  /** Whether tokens may have roles of the operator. Default false: a request with such a token is answered 401. */
  readonly operators?: boolean | undefined;
  /** The signature algorithms that are accepted. Default: all asymmetric ones. */
  readonly algorithms?: readonly OidcAlgorithm[] | undefined;
  /** `loopback`: the provider may be on this machine, without TLS. It is for tests. Default `none`. */
  readonly allow?: 'none' | 'loopback' | undefined;
}

const CLAIM = any((given, place): ClaimSource => {
  if (typeof given === 'string' && given !== '') return given;
  return typeof given === 'function'
    ? (given as ClaimSource)
    : place.refuse('must be the name of a claim, or a function');
});

/** Reads and checks `OidcOptions`. */
export const OIDC_OPTIONS = group({
  issuer: any((given, place: OptionPlace) =>
    typeof given === 'string' && URL.canParse(given) ? given : place.refuse('must be an address'),
  ),
  audience: text(/./s, 'a text'),
  claims: group({
    account: CLAIM.or(undefined),
    role: CLAIM.or(undefined),
    subject: CLAIM.or('sub'),
  } satisfies OptionsOf<OidcClaims>),
  operators: boolean.or(false),
  algorithms: list(choice(...OIDC_ALGORITHMS), 'asymmetric algorithms').or(OIDC_ALGORITHMS),
  allow: choice('none', 'loopback').or('none'),
} satisfies OptionsOf<OidcOptions>);
