import { Header, HttpCode, Post } from '@nestjs/common';
import { Author } from '../../accounts/author.decorator.js';
import { Needs } from '../../accounts/needs.decorator.js';
import { answerOf, Idempotent } from '../../http/idempotent.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { ReplyHeaders } from '../../http/parameters.js';
import { MessagingBody } from '../../http/validation.js';
import type { IdempotentRequest } from '../../outbox/idempotency.js';
import { ManagementService } from './management-service.js';
import { CreateLinkBody } from './session.dto.js';

/** One-time links (contract.md section 12). */
@MessagingController()
export class LinksController {
  constructor(private readonly management: ManagementService) {}

  @Post('manage/links')
  @Needs('manage.write')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  create(
    @MessagingBody() body: CreateLinkBody,
    @Author() by: Author,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.management.requestLink(body, { by, owner: `operator ${by.id}`, once }), headers);
  }
}
