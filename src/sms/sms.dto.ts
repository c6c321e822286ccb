import { IsOptional, IsString } from 'class-validator';
import { IsPhoneNumberList, IsQueryInteger } from '../http/validators.js';

/** Body of `POST /send/sms`. An absent `content` is the domain's to refuse, with the contract's text. */
export class SendSmsBody {
  @IsString()
  readonly signature: string = '';

  @IsOptional()
  @IsString()
  readonly content?: string;

  @IsPhoneNumberList()
  readonly number: string[] = [];
}

/** Body of `POST /sms/quote`. */
export class QuoteSmsBody {
  @IsOptional()
  @IsString()
  readonly content?: string;

  @IsPhoneNumberList()
  readonly number: string[] = [];
}

/** Query of `GET /sms`. */
export class ListSmsQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;
}
