import { Body, Controller, HttpCode, Module, Post, ValidationPipe } from '@nestjs/common';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsOptional, IsString, Matches, MaxLength } from 'class-validator';

/** The body of a send, validated as in any Nest application. */
export class BareSend {
  @IsString()
  signature!: string;

  @IsOptional()
  @IsString()
  content?: string;

  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(100_000)
  @Matches(/^[1-9]\d{6,14}$/, { each: true })
  number!: string[];
}

/** Makes the answer to a send from its body alone. */
export function echo({ signature, number }: BareSend): object {
  return {
    userID: '01a1fe2d-892e-775e-ac74-b396363f6c20',
    smsID: '01a1fe2d-8980-70b1-93b2-49369ca0cf7a',
    signature,
    number,
    sms_units: number.length,
    date_sent: '2026-11-21T12:55:59.616Z',
  };
}

class BareSendOtp {
  @IsString()
  @MaxLength(128)
  service!: string;

  @Matches(/^[1-9]\d{6,14}$/)
  number!: string;
}

class BareVerifyOtp extends BareSendOtp {
  @Matches(/^\d{4}$/)
  otp!: string;
}

class BareSendText {
  @Matches(/^[1-9]\d{6,14}$/)
  to!: string;

  @IsString()
  body!: string;

  @IsOptional()
  @Matches(/^[1-9]\d{6,14}$/)
  from?: string;
}

@Controller('api/v1')
class BareController {
  @Post('send/otp')
  @HttpCode(200)
  sendOtp(@Body(new ValidationPipe({ transform: true, whitelist: true })) { service, number }: BareSendOtp): object {
    const [otpID, at] = ['01a1fe2d-8980-70b1-93b2-49369ca0cf7a', '2026-11-21T12:55:59.616Z'];
    const message = 'Code de vérification envoyé';
    return { success: true, message, otpID, number, service, channel: 'sms', expires_at: at, resend_at: at };
  }

  @Post('verify/otp')
  @HttpCode(200)
  verifyOtp(@Body(new ValidationPipe({ transform: true, whitelist: true })) _: BareVerifyOtp): object {
    return { success: true, message: 'Code de vérification vérifié avec succès' };
  }

  @Post('msgapp/send/text')
  @HttpCode(200)
  sendText(@Body(new ValidationPipe({ transform: true, whitelist: true })) _: BareSendText): object {
    return { success: true, messageID: '01a1fe2d-8980-70b1-93b2-49369ca0cf7a' };
  }

  @Post('send/sms')
  @HttpCode(200)
  send(@Body(new ValidationPipe({ transform: true, whitelist: true })) body: BareSend): object {
    return echo(body);
  }
}

/** The application that we are compared with: a validated route that does nothing. */
@Module({ controllers: [BareController] })
export class BareModule {}
