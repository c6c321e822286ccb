import { IsOptional, IsString, Length } from 'class-validator';
import { IsPhoneNumber } from '../http/validators.js';

/** Body of `POST /send/otp`. */
export class SendOtpBody {
  @IsString()
  @Length(1, 128)
  readonly service: string = '';

  @IsPhoneNumber()
  readonly number: string = '';

  @IsOptional()
  @IsString()
  readonly channel?: string;
}

/** Body of `POST /verify/otp`. How many digits `otp` has is the domain's to judge. */
export class VerifyOtpBody {
  @IsString()
  readonly otp: string = '';

  @IsPhoneNumber()
  readonly number: string = '';

  @IsString()
  @Length(1, 128)
  readonly service: string = '';
}
