import { Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { Author } from '../accounts/audit/author.decorator.js';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { TextAccess } from '../accounts/text-access.js';
import type { Cancellation } from '../common/concurrency/async.js';
import { answerOf, Idempotent } from '../http/idempotent.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestCancellation } from '../http/parameters.js';
import { MessagingBody, MessagingQuery } from '../http/validation.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import type { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import type { SmsDetails, SmsPage, SmsQuote, SmsRecipientPage } from './sms.api.js';
import {
  CancelSmsQuery,
  ListRecipientsQuery,
  ListSmsQuery,
  QuoteSmsBody,
  RescheduleSmsBody,
  SendSmsBody,
} from './sms.dto.js';
import { SmsService } from './sms-service.js';

/** The SMS routes (docs/http-api.md). */
@MessagingController()
export class SmsController {
  constructor(
    private readonly sms: SmsService,
    private readonly texts: TextAccess,
  ) {}

  @Post('send/sms')
  @Needs('sms.send')
  @HttpCode(200)
  send(
    @Caller() { accountId, key }: Caller,
    @MessagingBody() body: SendSmsBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestCancellation() signal: Cancellation,
  ): Promise<object> {
    return answerOf(this.sms.accept(accountId, body, { once, signal, key }), headers);
  }

  @Post('sms/quote')
  @Needs('sms.send')
  @HttpCode(200)
  quote(@Caller() { accountId }: Caller, @MessagingBody() body: QuoteSmsBody): Promise<SmsQuote> {
    return this.sms.quote(body, accountId);
  }

  @Get('sms/:smsID')
  @Needs('messages.read')
  async get(@Caller() caller: Caller, @Param('smsID') smsId: string, @Author() by: Author): Promise<SmsDetails> {
    return this.texts.one(caller, by, smsId, await this.sms.get(caller.accountId, smsId));
  }

  @Patch('sms/:smsID')
  @Needs('sms.reschedule')
  async reschedule(
    @Caller() caller: Caller,
    @Param('smsID') smsId: string,
    @MessagingBody() body: RescheduleSmsBody,
    @Author() by: Author,
  ): Promise<SmsDetails> {
    return this.texts.one(caller, by, smsId, await this.sms.reschedule(caller.accountId, smsId, body, { by }));
  }

  @Delete('sms/:smsID')
  @Needs('sms.cancel')
  cancel(
    @Caller() { accountId }: Caller,
    @Param('smsID') smsId: string,
    @MessagingQuery() { number }: CancelSmsQuery,
    @Author() by: Author,
  ): Promise<CanceledMessage> {
    return this.sms.cancel(accountId, smsId, { number, by });
  }

  @Get('sms/:smsID/recipients')
  @Needs('messages.read')
  async recipients(
    @Caller() caller: Caller,
    @Param('smsID') smsId: string,
    @MessagingQuery() query: ListRecipientsQuery,
  ): Promise<SmsRecipientPage> {
    return this.texts.many(caller, await this.sms.recipients(caller.accountId, smsId, query));
  }

  @Get('sms')
  @Needs('messages.read')
  async list(@Caller() caller: Caller, @MessagingQuery() query: ListSmsQuery): Promise<SmsPage> {
    return this.texts.many(caller, await this.sms.list(caller.accountId, query));
  }
}
