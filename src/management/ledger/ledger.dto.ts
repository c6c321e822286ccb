import { IsOptional, IsString } from '../../http/validators.js';
import { PeriodPageQuery } from '../list-query.js';

/** Query of `GET /ledger`. The service checks the values of the fields. */
export class ListLedgerQuery extends PeriodPageQuery {
  @IsOptional()
  @IsString()
  readonly kind?: string;
}
