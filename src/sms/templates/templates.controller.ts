import { Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { Author } from '../../accounts/audit/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import type { Template, TemplatePage, TemplateRemoved } from './template.api.js';
import { TemplateService } from './template-service.js';
import { CreateTemplateBody, ListTemplatesQuery, ReplaceTemplateBody } from './templates.dto.js';

/** The routes of templates (docs/campaigns.md). */
@MessagingController()
export class TemplatesController {
  constructor(private readonly templates: TemplateService) {}

  @Post('templates')
  @Needs('templates.write')
  @HttpCode(200)
  create(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: CreateTemplateBody,
    @Author() by: Author,
  ): Promise<Template> {
    return this.templates.create(accountId, body, { by });
  }

  @Get('templates')
  @Needs('templates.read')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: ListTemplatesQuery): Promise<TemplatePage> {
    return this.templates.list(accountId, query);
  }

  @Get('templates/:name')
  @Needs('templates.read')
  get(@Caller() { accountId }: Caller, @Param('name') name: string): Promise<Template> {
    return this.templates.get(accountId, name);
  }

  @Put('templates/:name')
  @Needs('templates.write')
  replace(
    @Caller() { accountId }: Caller,
    @Param('name') name: string,
    @MessagingBody() body: ReplaceTemplateBody,
    @Author() by: Author,
  ): Promise<Template> {
    return this.templates.replace(accountId, name, body, { by });
  }

  @Delete('templates/:name')
  @Needs('templates.write')
  remove(@Caller() { accountId }: Caller, @Param('name') name: string, @Author() by: Author): Promise<TemplateRemoved> {
    return this.templates.remove(accountId, name, { by });
  }
}
