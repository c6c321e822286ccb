import { Get } from '@nestjs/common';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { TextAccess } from '../../accounts/text-access.js';
import { MessagingController } from '../../http/messaging-controller.js';
import type { OverviewView } from './overview.api.js';
import { OverviewService } from './overview-service.js';

/** The route of the overview of an account. */
@MessagingController()
export class OverviewController {
  constructor(
    private readonly service: OverviewService,
    private readonly texts: TextAccess,
  ) {}

  @Get('overview')
  @Needs('usage.read')
  async overview(@Caller() caller: Caller): Promise<OverviewView> {
    return this.texts.many(caller, await this.service.overview(caller.accountId));
  }
}
