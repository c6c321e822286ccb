import type { Variables } from '../common/text/personal-text.js';
import type { Metadata } from '../events/events.api.js';
import {
  IsMetadata,
  IsOptional,
  IsPhoneNumber,
  IsQueryInteger,
  IsString,
  IsValidFor,
  IsWindow,
} from '../http/validators.js';
import type { WindowInput } from '../outbox/windows/window.api.js';
import type { RecipientStatus } from './campaign.api.js';

/** Body of `POST /campaigns`. The service checks what the decorators do not. */
export class CreateCampaignBody {
  @IsString()
  readonly name: string = '';

  /** The service refuses a body without a signature, unless its template has one. */
  @IsOptional()
  @IsString()
  readonly signature?: string;

  /** The service refuses a body without a text, and one with both `content` and `template`. */
  @IsOptional()
  @IsString()
  readonly content?: string;

  @IsOptional()
  @IsString()
  readonly template?: string;

  @IsOptional()
  @IsString()
  readonly send_at?: string;

  @IsOptional()
  readonly per_minute?: number;

  @IsOptional()
  @IsValidFor()
  readonly valid_for?: number;

  @IsOptional()
  @IsWindow()
  readonly window?: WindowInput | null;

  @IsOptional()
  readonly national?: boolean;

  @IsOptional()
  @IsMetadata()
  readonly metadata?: Metadata;
}

/** Body of `POST /campaigns/:id/recipients`. The service checks the list, and reports on each wrong entry. */
export class ImportRecipientsBody {
  @IsOptional()
  readonly to?: readonly { readonly number: string; readonly vars?: Variables }[];
}

/** Query of `POST /campaigns/:id/recipients`. */
export class ImportRecipientsQuery {
  /** The name of the column with the numbers. */
  @IsOptional()
  @IsString()
  readonly number?: string;
}

/** Body of `POST /campaigns/:id/test`. The service checks `vars`. */
export class TestCampaignBody {
  @IsPhoneNumber()
  readonly number: string = '';

  @IsOptional()
  readonly vars?: Variables;
}

/** Query of `GET /campaigns`. */
export class ListCampaignsQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;
}

/** Query of `GET /campaigns/:id/recipients`. The service checks `status`. */
export class ListCampaignRecipientsQuery extends ListCampaignsQuery {
  @IsOptional()
  @IsString()
  readonly status?: RecipientStatus;
}
