import { IsOptional, IsString } from '../../http/validators.js';
import { PageQuery } from '../list-query.js';

/** Query of `GET /audit`. The service checks what is in the fields. */
export class ListAuditQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly action?: string;

  @IsOptional()
  @IsString()
  readonly since?: string;

  @IsOptional()
  @IsString()
  readonly until?: string;
}
