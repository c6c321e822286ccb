import { IsOptional, IsString } from '../../http/validators.js';
import { PageQuery } from '../list-query.js';

/** Query of `GET /ledger`. The service checks what is in the fields. */
export class ListLedgerQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly kind?: string;

  @IsOptional()
  @IsString()
  readonly since?: string;

  @IsOptional()
  @IsString()
  readonly until?: string;
}
