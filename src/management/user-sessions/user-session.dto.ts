import { IsOptional, IsString } from '../../http/validators.js';
import type { LinkDraft } from './management-service.js';

/** Body of `POST /session/exchange`: one of the two. */
export class ExchangeBody {
  @IsOptional()
  @IsString()
  readonly token?: string;

  /** Any value: the host's `UserAuthenticator` checks it. */
  @IsOptional()
  readonly credentials?: unknown;
}

/** Body of `POST /manage/links`. The service checks the values of the fields. */
export class CreateLinkBody {
  @IsOptional()
  @IsString()
  readonly account?: string;

  @IsString()
  readonly role: LinkDraft['role'] = 'viewer';

  @IsOptional()
  @IsString()
  readonly subject?: string;

  @IsOptional()
  readonly minutes?: number;
}
