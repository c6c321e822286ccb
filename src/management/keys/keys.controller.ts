import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Author } from '../../accounts/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/needs.decorator.js';
import { answerOf, Idempotent } from '../../http/idempotent.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { ReplyHeaders } from '../../http/parameters.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import type { IdempotentRequest } from '../../outbox/idempotency.js';
import { PageQuery } from '../list-query.js';
import { KeyService } from './key-service.js';
import type { KeyPage } from './key-view.js';
import { CreateKeyBody, RotateKeyBody } from './keys.dto.js';

/** The routes of API keys (contract.md section 13). */
@MessagingController()
export class KeysController {
  constructor(private readonly keys: KeyService) {}

  @Get('keys')
  @Needs('keys.read')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: PageQuery): Promise<KeyPage> {
    return this.keys.list(accountId, query);
  }

  @Post('keys')
  @Needs('keys.write')
  @HttpCode(200)
  create(
    @Caller() { accountId }: Caller,
    @Author() by: Author,
    @MessagingBody() body: CreateKeyBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.keys.create(accountId, body, { once, by }), headers);
  }

  @Post('keys/:id/rotate')
  @Needs('keys.write')
  @HttpCode(200)
  rotate(
    @Caller() { accountId }: Caller,
    @Author() by: Author,
    @Param('id') id: string,
    @MessagingBody() body: RotateKeyBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.keys.rotate(accountId, id, body, { once, by }), headers);
  }

  @Delete('keys/:id')
  @Needs('keys.write')
  revoke(
    @Caller() { accountId }: Caller,
    @Author() by: Author,
    @Param('id') id: string,
  ): Promise<{ readonly success: true }> {
    return this.keys.revoke(accountId, id, { by });
  }
}
