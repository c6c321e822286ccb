import { IsOptional, IsString } from '../http/validators.js';
import type { LoginHookKind } from './login-hook.api.js';
import type { HookMapping, HookProof } from './login-hook.js';
import type { LoginHookDraft } from './login-hook-input.js';

/** Body of `POST /hooks`. The service checks the values of the fields. */
export class CreateLoginHookBody {
  @IsString()
  readonly kind: LoginHookKind = 'generic';

  @IsString()
  readonly signature: string = '';

  @IsOptional()
  @IsString()
  readonly name?: string;

  @IsOptional()
  @IsString()
  readonly channel?: string;

  @IsOptional()
  @IsString()
  readonly secret?: string;

  @IsOptional()
  readonly limits?: NonNullable<LoginHookDraft['limits']>;

  @IsOptional()
  readonly mapping?: HookMapping;

  @IsOptional()
  readonly proof?: HookProof;
}

/** Body of `POST /hooks/:id/rotate`. The service checks the values of the fields. */
export class RotateLoginHookBody {
  @IsOptional()
  @IsString()
  readonly secret?: string;

  @IsOptional()
  readonly keep_hours?: number;
}

/** Body of `POST /hooks/:id/test`. The service checks the number. */
export class TestLoginHookBody {
  @IsString()
  readonly number: string = '';
}
