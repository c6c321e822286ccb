import type { Metadata } from '../events/events.api.js';
import {
  IsMetadata,
  IsOptional,
  IsPhoneNumber,
  IsPhoneNumberList,
  IsQueryFlag,
  IsQueryInteger,
  IsRecipientList,
  IsSendAt,
  IsString,
  IsValidFor,
  IsWindow,
} from '../http/validators.js';
import type { SendPriority } from '../outbox/queue/priority.api.js';
import type { WindowInput } from '../outbox/windows/window.api.js';
import type { PersonalRecipient } from './texts/addressees.js';

/** Body of `POST /send/sms`. The service refuses an absent `content`. */
export class SendSmsBody {
  /** The service refuses a body without a signature, unless its template has one. */
  @IsOptional()
  @IsString()
  readonly signature?: string;

  @IsOptional()
  @IsString()
  readonly content?: string;

  @IsOptional()
  @IsString()
  readonly template?: string;

  /** The service refuses a body with both `number` and `to`, or with none of them. */
  @IsOptional()
  @IsPhoneNumberList()
  readonly number?: string[];

  /** The service checks the entries. */
  @IsOptional()
  @IsRecipientList()
  readonly to?: PersonalRecipient[];

  /** The service checks which values are allowed. */
  @IsOptional()
  @IsString()
  readonly priority?: SendPriority;

  @IsOptional()
  @IsWindow()
  readonly window?: WindowInput | null;

  @IsOptional()
  @IsMetadata()
  readonly metadata?: Metadata;

  @IsOptional()
  @IsSendAt()
  readonly send_at?: string;

  @IsOptional()
  @IsValidFor()
  readonly valid_for?: number;
}

/** Body of `POST /sms/quote`. */
export class QuoteSmsBody {
  @IsOptional()
  @IsString()
  readonly content?: string;

  @IsOptional()
  @IsString()
  readonly template?: string;

  @IsOptional()
  @IsPhoneNumberList()
  readonly number?: string[];

  @IsOptional()
  @IsRecipientList()
  readonly to?: PersonalRecipient[];
}

/** Body of `PATCH /sms/:smsID`. */
export class RescheduleSmsBody {
  @IsOptional()
  @IsSendAt()
  readonly send_at?: string;

  @IsOptional()
  @IsValidFor()
  readonly valid_for?: number;

  @IsOptional()
  @IsWindow()
  readonly window?: WindowInput | null;
}

/** Query of `DELETE /sms/:smsID`. */
export class CancelSmsQuery {
  @IsOptional()
  @IsPhoneNumber()
  readonly number?: string;
}

/** Query of `GET /sms/:smsID/recipients`. The service checks `status`, here and in `ListSmsQuery`. */
export class ListRecipientsQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;

  @IsOptional()
  @IsString()
  readonly status?: string;
}

/** Query of `GET /sms`. */
export class ListSmsQuery extends ListRecipientsQuery {
  @IsOptional()
  @IsPhoneNumber()
  readonly number?: string;

  @IsOptional()
  @IsString()
  readonly signature?: string;

  /** From the parameters `metadata.<key>`. */
  @IsOptional()
  @IsMetadata()
  readonly metadata?: Metadata;

  @IsOptional()
  @IsString()
  readonly since?: string;

  @IsOptional()
  @IsString()
  readonly until?: string;

  @IsOptional()
  @IsQueryFlag()
  readonly scheduled?: true;
}
