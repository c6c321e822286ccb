import { IsOptional, IsQueryInteger, IsString } from '../../http/validators.js';

/** The highest sequence that a request may name. */
export const MAX_SEQUENCE = 999_999_999_999_999;

/** Query of `GET /events/stream`. The service checks `types`. */
export class StreamQuery {
  @IsOptional()
  @IsQueryInteger(0, MAX_SEQUENCE)
  readonly after?: number;

  @IsOptional()
  @IsString()
  readonly types?: string;
}

/** Query of `GET /events`. */
export class EventsQuery extends StreamQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsQueryInteger(0, 25)
  readonly wait?: number;
}
