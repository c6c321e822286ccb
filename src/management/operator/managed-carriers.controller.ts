import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { Author } from '../../accounts/author.decorator.js';
import { Needs } from '../../accounts/needs.decorator.js';
import { answerOf, Idempotent } from '../../http/idempotent.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { ReplyHeaders } from '../../http/parameters.js';
import type { IdempotentRequest } from '../../outbox/idempotency.js';
import { type CarriersView, ManagedCarriers } from './managed-carriers.js';

type Once = IdempotentRequest | undefined;

/** The routes of the carriers (contract.md section 13). */
@MessagingController()
export class ManagedCarriersController {
  constructor(private readonly carriers: ManagedCarriers) {}

  @Get('manage/carriers')
  @Needs('manage.read')
  read(): Promise<CarriersView> {
    return this.carriers.read();
  }

  @Post('manage/carriers/:route/rest')
  @Needs('manage.write')
  @HttpCode(200)
  rest(
    @Param('route') route: string,
    @Author() by: Author,
    @Idempotent() once: Once,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.carriers.rest(route, { by, once }), headers);
  }

  @Post('manage/carriers/:route/resume')
  @Needs('manage.write')
  @HttpCode(200)
  resume(
    @Param('route') route: string,
    @Author() by: Author,
    @Idempotent() once: Once,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.carriers.resume(route, { by, once }), headers);
  }
}
