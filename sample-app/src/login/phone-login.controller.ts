import { randomUUID } from 'node:crypto';
import { Body, Controller, Post, UnauthorizedException, UseFilters } from '@nestjs/common';
import { MessagingExceptionFilter, OtpService } from 'nestjs-messaging';

interface Login {
  number?: string;
  otp?: string;
}

/** Phone log-in on top of `OtpService`, as docs/otp.md shows it. */
@Controller('login')
@UseFilters(MessagingExceptionFilter)
export class PhoneLoginController {
  constructor(private readonly otp: OtpService) {}

  @Post('code')
  async code(@Body() body?: Login) {
    const { expires_at } = await this.otp.send('demo', { service: 'Log-in', number: body?.number ?? '' });
    return { expires_at };
  }

  @Post()
  async login(@Body() body?: Login) {
    const { number = '', otp = '' } = body ?? {}; // the body is unchecked; the service checks it
    const outcome = await this.otp.verify('demo', { service: 'Log-in', number, otp });
    if (outcome.kind !== 'verified') throw new UnauthorizedException(); // one text for every cause
    return { user: number, session: randomUUID() };
  }
}
