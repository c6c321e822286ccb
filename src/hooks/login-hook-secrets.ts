import { Injectable } from '@nestjs/common';
import { IdGenerator } from '../common/ids.js';
import { Sealer } from '../common/sealer.js';
import { HOOK_KINDS } from './kinds/index.js';
import type { LoginHookKind } from './login-hook.api.js';
import type { HookSecretVersion, LoginHook } from './login-hook.js';

/** How many versions of a secret may be valid at a time. If there are more, the oldest end early. */
const MAX_VERSIONS = 3;

const SECRET_BYTES = 32;

/** Makes, keeps and reads the secrets of hooks. They are stored encrypted. */
@Injectable()
export class LoginHookSecrets {
  constructor(
    private readonly sealer: Sealer,
    private readonly ids: IdGenerator,
  ) {}

  /** Makes a secret in the form of the kind. */
  newSecret(kind: LoginHookKind): string {
    return HOOK_KINDS[kind].secretOf(this.ids.bytes(SECRET_BYTES));
  }

  /** The versions of a new hook. */
  first(hookId: string, secret: string): readonly HookSecretVersion[] {
    return [{ number: 1, sealed: this.sealer.seal(placeOf(hookId), secret), endsAt: null }];
  }

  /**
   * The versions after a rotation: the new secret, and the older ones until they end.
   * @param keepMs for how many milliseconds the replaced secret still proves calls
   */
  rotated(
    { id, versions }: Pick<LoginHook, 'id' | 'versions'>,
    secret: string,
    now: number,
    keepMs: number,
  ): readonly HookSecretVersion[] {
    const number = Math.max(0, ...versions.map((version) => version.number)) + 1;
    const earlier = versions.map((version) => ({ ...version, endsAt: version.endsAt ?? now + keepMs }));
    const kept = earlier.filter(({ endsAt }) => endsAt > now).slice(0, MAX_VERSIONS - 1);
    return [{ number, sealed: this.sealer.seal(placeOf(id), secret), endsAt: null }, ...kept];
  }

  /** The secrets that prove calls now, the newest first. A secret whose pepper is no longer configured is not among them. */
  secretsOf({ id, versions }: Pick<LoginHook, 'id' | 'versions'>, now: number): readonly string[] {
    return versions
      .filter(({ endsAt }) => endsAt === null || endsAt > now)
      .flatMap((version) => this.open(id, version) ?? []);
  }

  /** The secret of a version. Undefined if its pepper is no longer configured. */
  open(hookId: string, { sealed }: Pick<HookSecretVersion, 'sealed'>): string | undefined {
    return this.sealer.open(placeOf(hookId), sealed);
  }
}

function placeOf(hookId: string): string {
  return `secret of hook ${hookId}`;
}
