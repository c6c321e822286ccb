import { IsOptional, IsQueryInteger, IsString } from '../../http/validators.js';

/** Body of `PUT /templates/:name`. The service checks the values. */
export class ReplaceTemplateBody {
  @IsOptional()
  @IsString()
  readonly content?: string;

  @IsOptional()
  @IsString()
  readonly signature?: string;
}

/** Body of `POST /templates`. */
export class CreateTemplateBody extends ReplaceTemplateBody {
  @IsString()
  readonly name: string = '';
}

/** Query of `GET /templates`. */
export class ListTemplatesQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;
}
