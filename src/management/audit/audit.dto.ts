import { IsOptional, IsString } from '../../http/validators.js';
import { PeriodPageQuery } from '../list-query.js';

/** Query of `GET /audit`. The service checks the values of the fields. */
export class ListAuditQuery extends PeriodPageQuery {
  @IsOptional()
  @IsString()
  readonly action?: string;
}
