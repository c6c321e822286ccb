import { timingSafeEqual } from 'node:crypto';
import { digestSecret } from '../accounts/keys/api-key.js';
import { looksLikeJwt } from '../accounts/keys/authenticator.js';
import { any, group, OptionPlace, type OptionsOf } from '../common/options.js';
import { isStrongSecret, SECRET_DISTINCT, SECRET_LENGTH } from '../common/secret.js';
import type { TelemetryRoute } from '../core/telemetry-source.js';

const secret = any((given, place): string => {
  if (!isStrongSecret(given) || !/^[\x21-\x7e]+$/.test(given)) {
    return place.refuse(
      `must have at least ${SECRET_LENGTH} visible ASCII characters, ${SECRET_DISTINCT} of them different`,
    );
  }
  // The secret comes in the same header as keys and tokens, so it must not look like one of them.
  if (given.startsWith('msgk_') || looksLikeJwt(given)) place.refuse('must not have the form of an API key or a JWT');
  return given;
}).or(undefined);

const guard = any((given, place) =>
  typeof given === 'function' ? given : place.refuse('must be the class of a guard'),
).or(undefined);

const OPTIONS = { secret, guard } satisfies OptionsOf<TelemetryRoute>;

/** Who may read the metrics. */
export class MetricsAccess {
  private constructor(private readonly digest: Buffer | undefined) {}

  /** @throws MessagingOptionsError if nothing protects the route, with a sentence that says what to set */
  static of(route: TelemetryRoute): MetricsAccess {
    const place = new OptionPlace('route', (path) => `Option telemetry: ${path}`);
    const given = group(OPTIONS).read(route, place);
    if (given.secret === undefined && given.guard === undefined) {
      place.refuse(
        'needs a secret (make one with "openssl rand -base64 48") or a guard, because metrics show amounts of money',
      );
    }
    return new MetricsAccess(given.secret === undefined ? undefined : digestSecret(given.secret));
  }

  /** Whether the header `Authorization` has the secret; true if only a guard decides. Every wrong secret takes equally long. */
  allows(authorization: string | undefined): boolean {
    if (this.digest === undefined) return true;
    const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    return timingSafeEqual(digestSecret(token), this.digest);
  }
}
