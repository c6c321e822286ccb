import { IsOptional, IsString } from 'class-validator';
import { IsPhoneNumber } from '../http/validators.js';
import type { MediaKind } from '../media/media-type.js';

/** Body of `POST …/send/text`. */
export class SendTextBody {
  @IsPhoneNumber()
  readonly to: string = '';

  /** What an empty one is answered with is the service's to say. */
  @IsOptional()
  @IsString()
  readonly body?: string;

  @IsOptional()
  @IsPhoneNumber()
  readonly from?: string;
}

/** Body of `POST …/send/media`. */
export class SendMediaBody {
  @IsPhoneNumber()
  readonly to: string = '';

  @IsString()
  readonly mediaUrl: string = '';

  /** Which there are is the service's to say. */
  @IsOptional()
  @IsString()
  readonly mediaType?: MediaKind;

  @IsOptional()
  @IsString()
  readonly caption?: string;

  @IsOptional()
  @IsPhoneNumber()
  readonly from?: string;
}

/** Query of `GET …/web/status`. */
export class SessionStatusQuery {
  @IsOptional()
  @IsString()
  readonly sessionID?: string;
}
