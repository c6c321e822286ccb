import { Header, HttpCode, Post } from '@nestjs/common';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { Change } from '../../http/change.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody } from '../../http/validation.js';
import { ManagementService } from './management-service.js';
import { CreateLinkBody } from './user-session.dto.js';

/** One-time links (docs/management.md). */
@MessagingController()
export class LinksController {
  constructor(private readonly management: ManagementService) {}

  @Post('manage/links')
  @Needs('manage.write')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  create(@MessagingBody() body: CreateLinkBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.management.requestLink(body, { ...call, owner: `operator ${call.by.id}` }));
  }
}
