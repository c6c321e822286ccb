import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { Needs } from '../../../accounts/keys/needs.decorator.js';
import { Change } from '../../../http/change.decorator.js';
import { MessagingController } from '../../../http/messaging-controller.js';
import { type CarriersView } from './carriers.api.js';
import { ManagedCarriers } from './managed-carriers.js';

/** The routes of the carriers (docs/management-api.md). */
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
  rest(@Param('route') route: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.carriers.rest(route, call));
  }

  @Post('manage/carriers/:route/resume')
  @Needs('manage.write')
  @HttpCode(200)
  resume(@Param('route') route: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.carriers.resume(route, call));
  }
}
