import { Get, HttpCode, Post } from '@nestjs/common';
import { Needs } from '../../../accounts/keys/needs.decorator.js';
import { Change } from '../../../http/change.decorator.js';
import { MessagingController } from '../../../http/messaging-controller.js';
import { MessagingBody } from '../../../http/validation.js';
import { PauseQueueBody } from '../operator.dto.js';
import { ManagedQueues } from './managed-queues.js';
import { type QueuesView } from './queues.api.js';

/** The routes of the queues (docs/management-api.md). */
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
  pause(@MessagingBody() body: PauseQueueBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.queues.pause(body, call));
  }

  @Post('manage/queue/resume')
  @Needs('manage.write')
  @HttpCode(200)
  resume(@MessagingBody() body: PauseQueueBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.queues.resume(body, call));
  }
}
