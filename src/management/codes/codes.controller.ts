import { Get } from '@nestjs/common';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import type { Cancellation } from '../../common/concurrency/async.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { RequestCancellation } from '../../http/parameters.js';
import { MessagingQuery } from '../../http/validation.js';
import { PeriodQuery } from '../usage/usage.dto.js';
import type { CodesView } from './codes.api.js';
import { CodesService } from './codes-service.js';

/** The route of the statistics of an account's codes. */
@MessagingController()
export class CodesController {
  constructor(private readonly service: CodesService) {}

  @Get('codes')
  @Needs('usage.read')
  codes(
    @Caller() { accountId }: Caller,
    @MessagingQuery() query: PeriodQuery,
    @RequestCancellation() signal: Cancellation,
  ): Promise<CodesView> {
    return this.service.codes(accountId, query, signal);
  }
}
