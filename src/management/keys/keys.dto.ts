import { IsOptional, IsString } from '../../http/validators.js';
import type { NewKeyDraft } from './key-service.js';

/** Body of `POST /keys`. The service checks the values of the fields. */
export class CreateKeyBody {
  @IsString()
  readonly name: string = '';

  @IsOptional()
  readonly scopes?: NonNullable<NewKeyDraft['scopes']>;

  @IsOptional()
  readonly cidrs?: NonNullable<NewKeyDraft['cidrs']>;

  @IsOptional()
  @IsString()
  readonly expires_at?: string;

  @IsOptional()
  readonly daily_units?: number;

  @IsOptional()
  readonly per_minute?: number;

  @IsOptional()
  readonly recipients?: NonNullable<NewKeyDraft['recipients']>;

  @IsOptional()
  readonly confirm_above?: number;
}

/** Body of `POST /keys/:id/rotate`. The service checks its range. */
export class RotateKeyBody {
  @IsOptional()
  readonly grace_hours?: number;
}
