import { Get, HttpCode, Post } from '@nestjs/common';
import { Author } from '../../accounts/author.decorator.js';
import { Needs } from '../../accounts/needs.decorator.js';
import { answerOf, Idempotent } from '../../http/idempotent.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { ReplyHeaders } from '../../http/parameters.js';
import { MessagingBody } from '../../http/validation.js';
import type { IdempotentRequest } from '../../outbox/idempotency.js';
import { ManagedQueues, type QueuesView } from './managed-queues.js';
import { PauseQueueBody } from './operator.dto.js';

type Once = IdempotentRequest | undefined;

/** The routes of the queues (contract.md section 13). */
@MessagingController()
export class ManagedQueuesController {
  constructor(private readonly queues: ManagedQueues) {}

  @Get('manage/queue')
  @Needs('manage.read')
  read(): Promise<QueuesView> {
    return this.queues.read();
  }

  @Post('manage/queue/pause')
  @Needs('manage.write')
  @HttpCode(200)
  pause(
    @MessagingBody() body: PauseQueueBody,
    @Author() by: Author,
    @Idempotent() once: Once,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.queues.pause(body, { by, once }), headers);
  }

  @Post('manage/queue/resume')
  @Needs('manage.write')
  @HttpCode(200)
  resume(
    @MessagingBody() body: PauseQueueBody,
    @Author() by: Author,
    @Idempotent() once: Once,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.queues.resume(body, { by, once }), headers);
  }
}
