import type { Metadata } from '../events/events.api.js';
import { HasCodePoints, IsMetadata, IsOptional, IsPhoneNumber, IsString } from '../http/validators.js';

/** Body of `POST /send/otp`. */
export class SendOtpBody {
  @IsString()
  @HasCodePoints(1, 128)
  readonly service: string = '';

  @IsPhoneNumber()
  readonly number: string = '';

  @IsOptional()
  @IsString()
  readonly channel?: string;

  @IsOptional()
  @IsMetadata()
  readonly metadata?: Metadata;
}

/** Body of `POST /verify/otp`. `OtpService` checks the number of digits of `otp`. */
export class VerifyOtpBody {
  @IsString()
  readonly otp: string = '';

  @IsPhoneNumber()
  readonly number: string = '';

  @IsString()
  @HasCodePoints(1, 128)
  readonly service: string = '';
}
