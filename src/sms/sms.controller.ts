import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import type { Cancellation } from '../common/async.js';
import { answerOf, Idempotent } from '../http/idempotent.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestCancellation } from '../http/parameters.js';
import { MessagingBody, MessagingQuery } from '../http/validation.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import { ListRecipientsQuery, ListSmsQuery, QuoteSmsBody, SendSmsBody } from './sms.dto.js';
import type { SmsDetails, SmsPage, SmsQuote, SmsRecipientPage } from './sms-results.js';
import { SmsService } from './sms-service.js';

/** The SMS routes (contract.md section 3). */
@MessagingController()
export class SmsController {
  constructor(private readonly sms: SmsService) {}

  @Post('send/sms')
  @HttpCode(200)
  send(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: SendSmsBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestCancellation() signal: Cancellation,
  ): Promise<object> {
    return answerOf(this.sms.accept(accountId, body, { once, signal }), headers);
  }

  @Post('sms/quote')
  @HttpCode(200)
  quote(@MessagingBody() body: QuoteSmsBody): Promise<SmsQuote> {
    return this.sms.quote(body);
  }

  @Get('sms/:smsID')
  get(@Caller() { accountId }: Caller, @Param('smsID') smsId: string): Promise<SmsDetails> {
    return this.sms.get(accountId, smsId);
  }

  @Get('sms/:smsID/recipients')
  recipients(
    @Caller() { accountId }: Caller,
    @Param('smsID') smsId: string,
    @MessagingQuery() query: ListRecipientsQuery,
  ): Promise<SmsRecipientPage> {
    return this.sms.recipients(accountId, smsId, query);
  }

  @Get('sms')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: ListSmsQuery): Promise<SmsPage> {
    return this.sms.list(accountId, query);
  }
}
