import { Get } from '@nestjs/common';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingQuery } from '../../http/validation.js';
import type { MeView } from './me.api.js';
import { MeQuery } from './me.dto.js';
import { MeService } from './me-service.js';

/** The route that says who the caller is (docs/management-api.md). */
@MessagingController()
export class MeController {
  constructor(private readonly service: MeService) {}

  @Get('me')
  @Needs('me.read')
  me(@Caller() caller: Caller, @MessagingQuery() { account }: MeQuery): Promise<MeView> {
    return this.service.me(caller, account);
  }
}
