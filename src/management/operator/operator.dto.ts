import { IsOptional, IsString } from '../../http/validators.js';
import { ListAuditQuery } from '../audit/audit.dto.js';
import { PageQuery } from '../list-query.js';

/** Query of `GET /manage/accounts`. The service checks `state`. */
export class ListAccountsQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly query?: string;

  @IsOptional()
  @IsString()
  readonly state?: string;
}

/** Body of `POST /manage/accounts`. The service checks the values of the fields. */
export class CreateAccountBody {
  @IsOptional()
  @IsString()
  readonly id?: string;

  @IsString()
  readonly name: string = '';
}

/** Body of `PATCH /manage/accounts/:id`. The service checks the values of the fields. */
export class ChangeAccountBody {
  @IsOptional()
  @IsString()
  readonly name?: string;

  @IsOptional()
  readonly low_balance?: number;
}

/** Body of `POST /manage/accounts/:id/topups` and `/adjustments`. The service checks the values of the fields. */
export class PostingBody {
  @IsOptional()
  readonly units?: number;

  @IsString()
  readonly reference: string = '';

  @IsOptional()
  @IsString()
  readonly note?: string;
}

/** Query of `GET /manage/signatures`. The service checks `status`. */
export class ListSignaturesQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly status?: string;
}

/** Body of `POST /manage/accounts/:id/signatures/:name/reject`. */
export class RejectSignatureBody {
  @IsOptional()
  @IsString()
  readonly reason?: string;
}

/** Body of `POST /manage/queue/pause` and `/resume`. The service checks the values of the fields. */
export class PauseQueueBody {
  @IsOptional()
  @IsString()
  readonly channel?: string;

  @IsOptional()
  @IsString()
  readonly account?: string;
}

/** Query of `GET /manage/sessions`. The service checks `status`. */
export class ListSessionsQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly account?: string;

  @IsOptional()
  @IsString()
  readonly status?: string;
}

/** Query of `GET /manage/audit`. The service checks the values of the fields. */
export class ListManagedAuditQuery extends ListAuditQuery {
  @IsOptional()
  @IsString()
  readonly account?: string;
}
