import type { Metadata } from '../events/event-types.js';
import { IsMetadata, IsOptional, IsPhoneNumber, IsString } from '../http/validators.js';
import type { MediaKind } from '../media/media-type.js';
import type { SendPriority } from '../outbox/priority.js';

/** Body of `POST …/send/text`. */
export class SendTextBody {
  @IsPhoneNumber()
  readonly to: string = '';

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
  @IsMetadata()
  readonly metadata?: Metadata;
}

/** Body of `POST …/send/media`. */
export class SendMediaBody {
  @IsPhoneNumber()
  readonly to: string = '';

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
  @IsMetadata()
  readonly metadata?: Metadata;
}

/** Query of `GET …/web/status`. */
export class SessionStatusQuery {
  @IsOptional()
  @IsString()
  readonly sessionID?: string;
}
