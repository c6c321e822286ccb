import { Body, Controller, Post, UseFilters, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, Caller, MessagingExceptionFilter, SmsService } from 'nestjs-messaging';

/** A route of the host itself. It takes the same API key, has its own path and shape, and injects the SMS service. */
@Controller('customers')
@UseGuards(ApiKeyGuard)
@UseFilters(MessagingExceptionFilter)
export class WelcomeController {
  constructor(private readonly sms: SmsService) {}

  @Post('welcome')
  async welcome(@Caller() { accountId }: Caller, @Body() body?: { name?: string; phone?: string }) {
    const { name = '', phone = '' } = body ?? {};
    const content = `Bienvenue ${name}`.trim();
    const { smsID } = await this.sms.send(accountId, { signature: 'INFOS', content, number: [phone] });
    return { welcomed: phone, smsID };
  }
}
