import type { FlattenedJWSInput, JWSHeaderParameters, JWTPayload } from 'jose';
import { isAccountRole, isOperatorRole } from '../../accounts/keys/permissions.js';
import { isSubject } from '../../accounts/users/subject.js';
import { UserTokenVerifier, type VerifiedUser } from '../../accounts/users/user-token-verifier.js';
import { Clock } from '../../common/clock.js';
import { unverifiedClaims } from '../../common/jwt-claims.js';
import { OptionPlace } from '../../common/options.js';
import type { PortSource } from '../../core/port-provider.js';
import { type ClaimSource, OIDC_OPTIONS, type OidcOptions } from './oidc-options.js';
import { isAllowed, ProviderKeys } from './provider-keys.js';

/** How many seconds the provider's clock may differ from ours. */
const TOLERANCE_SECONDS = 60;

type Settings = ReturnType<typeof OIDC_OPTIONS.read>;

/**
 * Verifies the tokens of an OpenID provider, by the keys of its discovery document. Issuer, audience, expiry and an asymmetric
 * signature are required.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({
 *   userTokens: OidcUserTokenVerifier.forRoot({
 *     issuer: 'https://login.example.com/',
 *     audience: 'messaging',
 *     claims: { account: 'customer', role: 'messaging_role' },
 *   }),
 *   …
 * })
 * ```
 */
export class OidcUserTokenVerifier extends UserTokenVerifier {
  override readonly operators: boolean;
  private readonly keys: ProviderKeys;

  private constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    super();
    const { issuer, operators, allow } = settings;
    this.operators = operators;
    this.keys = new ProviderKeys({ issuer, loopback: allow === 'loopback' }, clock);
  }

  /**
   * Returns the verifier, for the option `userTokens`. It first asks the provider when the first token comes.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: OidcOptions): PortSource<UserTokenVerifier> {
    const place = new OptionPlace('', (at) => (at === '' ? 'The options of OpenID' : `Option ${at} of OpenID`));
    const settings = OIDC_OPTIONS.read(options, place);
    if (!isAllowed(settings.issuer, settings.allow === 'loopback'))
      place.in('issuer').refuse('must be an https address');
    return { inject: [Clock], useFactory: (clock: Clock) => new OidcUserTokenVerifier(settings, clock) };
  }

  /** @throws Error if the provider cannot be asked */
  override async verify(token: string): Promise<VerifiedUser | undefined> {
    const { issuer, audience, algorithms } = this.settings;
    // The provider is not asked about tokens of other issuers.
    if (unverifiedClaims(token)?.iss !== issuer) return undefined;
    const { jwtVerify, errors } = await import('jose');
    const options = {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ['exp'],
      currentDate: new Date(this.clock.now()),
      clockTolerance: TOLERANCE_SECONDS,
    };
    try {
      const find = (header: JWSHeaderParameters, jws: FlattenedJWSInput) => this.keys.find(header, jws);
      const { payload } = await jwtVerify(token, find, options);
      return this.userOf(payload);
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return undefined;
      // The token names no key, and the provider has several.
      for await (const key of error) {
        const payload = await jwtVerify(token, key, options).then(
          (verified) => verified.payload,
          () => undefined,
        );
        if (payload) return this.userOf(payload);
      }
      return undefined;
    }
  }

  private userOf(payload: JWTPayload): VerifiedUser | undefined {
    const { claims } = this.settings;
    const accountId = asText(claimOf(claims.account, payload));
    if (claims.role === undefined) return accountId === undefined ? undefined : { accountId };
    const [role, subject] = [claimOf(claims.role, payload), claimOf(claims.subject, payload)];
    if (!isSubject(subject)) return undefined;
    if (isOperatorRole(role)) return { subject, role };
    return isAccountRole(role) && accountId !== undefined ? { accountId, subject, role } : undefined;
  }
}

function claimOf(source: ClaimSource | undefined, claims: JWTPayload): unknown {
  return typeof source === 'function' ? source(claims) : source && claims[source];
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
