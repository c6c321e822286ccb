import type { Metadata } from '../events/events.api.js';
import {
  IsMetadata,
  IsNumberOrContact,
  IsOptional,
  IsPhoneNumber,
  IsQueryFlag,
  IsQueryInteger,
  IsSendAt,
  IsString,
  IsValidFor,
  IsWindow,
} from '../http/validators.js';
import type { MediaKind } from '../media/media.api.js';
import type { SendPriority } from '../outbox/queue/priority.api.js';
import type { WindowInput } from '../outbox/windows/window.api.js';

/** Body of `POST …/web/connect`. Only apps without codes read it. */
export class ConnectBody {
  @IsOptional()
  @IsString()
  readonly phone_number_id?: string;

  @IsOptional()
  @IsString()
  readonly access_token?: string;
}

/** Body of `POST …/send/text`. */
export class SendTextBody {
  /** Needed without `reply_to`. */
  @IsOptional()
  @IsNumberOrContact()
  readonly to?: string;

  @IsOptional()
  @IsString()
  readonly reply_to?: string;

  /** Optional here, because the service has its own error for an empty text. */
  @IsOptional()
  @IsString()
  readonly body?: string;

  @IsOptional()
  @IsPhoneNumber()
  readonly from?: string;

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

/** Body of `POST …/send/media`. */
export class SendMediaBody {
  /** Needed without `reply_to`. */
  @IsOptional()
  @IsNumberOrContact()
  readonly to?: string;

  @IsOptional()
  @IsString()
  readonly reply_to?: string;

  @IsString()
  readonly mediaUrl: string = '';

  /** The service checks which values are allowed. */
  @IsOptional()
  @IsString()
  readonly mediaType?: MediaKind;

  @IsOptional()
  @IsString()
  readonly caption?: string;

  @IsOptional()
  @IsPhoneNumber()
  readonly from?: string;

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

/** Body of `POST …/received/:receivedID/react`. */
export class ReactBody {
  /** The service checks that it is one emoji. */
  @IsString()
  readonly emoji: string = '';
}

/** Query of `DELETE …/messages/:messageID`. */
export class CancelMessageQuery {
  @IsOptional()
  @IsNumberOrContact()
  readonly number?: string;
}

/** Query of `GET …/messages`. The service checks `status`. */
export class ListMessagesQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;

  @IsOptional()
  @IsNumberOrContact()
  readonly to?: string;

  @IsOptional()
  @IsPhoneNumber()
  readonly from?: string;

  @IsOptional()
  @IsString()
  readonly status?: string;

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

/** Query of `GET …/web/status`. */
export class SessionStatusQuery {
  @IsOptional()
  @IsString()
  readonly sessionID?: string;
}
