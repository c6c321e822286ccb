import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Author } from '../../accounts/audit/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import type { KeyPage } from '../../accounts/keys/key.api.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { Change } from '../../http/change.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import { PageQuery } from '../list-query.js';
import { KeyService } from './key-service.js';
import { CreateKeyBody, RotateKeyBody } from './keys.dto.js';

/** The routes of API keys (docs/keys.md). */
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
    @MessagingBody() body: CreateKeyBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.keys.create(accountId, body, call));
  }

  @Post('keys/:id/rotate')
  @Needs('keys.write')
  @HttpCode(200)
  rotate(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @MessagingBody() body: RotateKeyBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.keys.rotate(accountId, id, body, call));
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
