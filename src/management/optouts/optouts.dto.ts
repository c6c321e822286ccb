import { IsOptional, IsPhoneNumber, IsPhoneNumberList, IsString } from '../../http/validators.js';
import { PageQuery } from '../list-query.js';

/** Query of `GET /optouts`. */
export class ListOptOutsQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly signature?: string;

  @IsOptional()
  @IsPhoneNumber()
  readonly number?: string;
}

/** Body of `POST /optouts`. */
export class AddOptOutsBody {
  @IsString()
  readonly signature: string = '';

  @IsPhoneNumberList()
  readonly numbers: string[] = [];
}
