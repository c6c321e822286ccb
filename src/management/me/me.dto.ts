import { IsOptional, IsString } from '../../http/validators.js';

/** Query of `GET /me`. */
export class MeQuery {
  /** The account that an operator looks at. */
  @IsOptional()
  @IsString()
  readonly account?: string;
}
