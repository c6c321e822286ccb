import { IsOptional, IsQueryInteger, IsString } from '../../http/validators.js';
import type { WebhookSignature } from './endpoint.api.js';
import type { EndpointChanges, ReplayDraft } from './endpoint-input.js';

/** Body of `PATCH /webhooks/:id`. The service checks the values of the fields. */
export class ChangeEndpointBody {
  @IsOptional()
  @IsString()
  readonly url?: string;

  @IsOptional()
  readonly types?: NonNullable<EndpointChanges['types']>;

  @IsOptional()
  @IsString()
  readonly ordering?: NonNullable<EndpointChanges['ordering']>;

  @IsOptional()
  readonly batch?: NonNullable<EndpointChanges['batch']>;

  @IsOptional()
  @IsString()
  readonly signature?: WebhookSignature;

  @IsOptional()
  @IsString()
  readonly description?: string;
}

/** Body of `POST /webhooks`. The service checks the values of the fields. */
export class CreateEndpointBody {
  @IsString()
  readonly url: string = '';

  @IsOptional()
  readonly types?: NonNullable<EndpointChanges['types']>;

  @IsOptional()
  @IsString()
  readonly ordering?: NonNullable<EndpointChanges['ordering']>;

  @IsOptional()
  readonly batch?: NonNullable<EndpointChanges['batch']>;

  @IsOptional()
  @IsString()
  readonly signature?: WebhookSignature;

  @IsOptional()
  @IsString()
  readonly description?: string;
}

/** Body of `POST /webhooks/:id/rotate`. The service checks its range. */
export class RotateSecretBody {
  @IsOptional()
  readonly keep_hours?: number;
}

/** Body of `POST /webhooks/:id/replay`. The service checks the values of the fields. */
export class ReplayEventsBody {
  @IsOptional()
  readonly after?: number;

  @IsOptional()
  @IsString()
  readonly since?: string;

  @IsOptional()
  @IsString()
  readonly until?: string;

  @IsOptional()
  readonly types?: NonNullable<ReplayDraft['types']>;

  @IsOptional()
  readonly only_failed?: boolean;
}

/** Query of `GET /webhooks`. */
export class ListEndpointsQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;
}

/** Query of `GET /webhooks/:id/attempts`. The service checks `status`. */
export class ListAttemptsQuery extends ListEndpointsQuery {
  @IsOptional()
  @IsString()
  readonly status?: string;
}
