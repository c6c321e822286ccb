import { Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { Author } from '../../accounts/audit/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { TextAccess } from '../../accounts/text-access.js';
import { Change } from '../../http/change.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import type { AttemptPage, EndpointPage, EndpointView } from './endpoint.api.js';
import { WebhookService } from './webhook-service.js';
import {
  ChangeEndpointBody,
  CreateEndpointBody,
  ListAttemptsQuery,
  ListEndpointsQuery,
  ReplayEventsBody,
  RotateSecretBody,
} from './webhooks.dto.js';

/** The routes of endpoints (docs/webhooks.md). */
@MessagingController()
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhookService,
    private readonly texts: TextAccess,
  ) {}

  @Post('webhooks')
  @Needs('webhooks.create')
  @HttpCode(200)
  create(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: CreateEndpointBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.webhooks.create(accountId, body, call));
  }

  @Get('webhooks')
  @Needs('events.read')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: ListEndpointsQuery): Promise<EndpointPage> {
    return this.webhooks.list(accountId, query);
  }

  @Get('webhooks/:id')
  @Needs('events.read')
  get(@Caller() { accountId }: Caller, @Param('id') id: string): Promise<EndpointView> {
    return this.webhooks.get(accountId, id);
  }

  @Patch('webhooks/:id')
  @Needs('webhooks.write')
  change(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @MessagingBody() body: ChangeEndpointBody,
    @Author() by: Author,
  ): Promise<EndpointView> {
    return this.webhooks.update(accountId, id, body, { by });
  }

  @Delete('webhooks/:id')
  @Needs('webhooks.write')
  remove(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @Author() by: Author,
  ): Promise<{ readonly success: true }> {
    return this.webhooks.remove(accountId, id, { by });
  }

  @Post('webhooks/:id/rotate')
  @Needs('webhooks.write')
  @HttpCode(200)
  rotate(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @MessagingBody() body: RotateSecretBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.webhooks.rotate(accountId, id, body, call));
  }

  @Post('webhooks/:id/test')
  @Needs('webhooks.write')
  @HttpCode(200)
  test(@Caller() { accountId }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.webhooks.test(accountId, id, call));
  }

  @Post('webhooks/:id/replay')
  @Needs('webhooks.write')
  @HttpCode(200)
  replay(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @MessagingBody() body: ReplayEventsBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.webhooks.replay(accountId, id, body, call));
  }

  @Post('webhooks/:id/enable')
  @Needs('webhooks.write')
  @HttpCode(200)
  enable(@Caller() { accountId }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.webhooks.enable(accountId, id, call));
  }

  @Post('webhooks/:id/disable')
  @Needs('webhooks.write')
  @HttpCode(200)
  disable(@Caller() { accountId }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.webhooks.disable(accountId, id, call));
  }

  @Get('webhooks/:id/attempts')
  @Needs('events.read')
  async attempts(
    @Caller() caller: Caller,
    @Param('id') id: string,
    @MessagingQuery() query: ListAttemptsQuery,
  ): Promise<AttemptPage> {
    return this.texts.many(caller, await this.webhooks.attempts(caller.accountId, id, query));
  }

  @Post('webhooks/:id/attempts/:sequence/retry')
  @Needs('webhooks.write')
  @HttpCode(200)
  retry(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @Param('sequence') sequence: string,
    @Change() change: Change,
  ): Promise<object> {
    const number = /^[1-9]\d{0,14}$/.test(sequence) ? Number(sequence) : Number.NaN;
    return change.answer((call) => this.webhooks.retry(accountId, id, number, call));
  }
}
