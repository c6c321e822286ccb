import { IsOptional, IsString } from '../../http/validators.js';

/** Query of `GET /codes`. The service checks the values of the fields. */
export class PeriodQuery {
  @IsOptional()
  @IsString()
  readonly since?: string;

  @IsOptional()
  @IsString()
  readonly until?: string;
}

/** Query of `GET /usage`. The service checks the values of the fields. */
export class GroupedUsageQuery extends PeriodQuery {
  @IsOptional()
  @IsString()
  readonly group_by?: string;
}
