import type { IncomingHttpHeaders } from 'node:http';
import { Get, Header, type StreamableFile } from '@nestjs/common';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import type { Cancellation } from '../../common/concurrency/async.js';
import { csvFile, wantsCsv } from '../../http/csv.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { RequestCancellation, RequestHeaders } from '../../http/parameters.js';
import { MessagingQuery } from '../../http/validation.js';
import type { UsageView } from './usage.api.js';
import { GroupedUsageQuery } from './usage.dto.js';
import { UsageService } from './usage-service.js';

/** The route of an account's usage (docs/management-api.md). */
@MessagingController()
export class UsageController {
  constructor(private readonly service: UsageService) {}

  @Get('usage')
  @Needs('usage.read')
  @Header('Vary', 'Accept')
  @Header('X-Content-Type-Options', 'nosniff')
  async usage(
    @Caller() { accountId }: Caller,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @MessagingQuery() query: GroupedUsageQuery,
    @RequestCancellation() signal: Cancellation,
  ): Promise<UsageView | StreamableFile> {
    if (!wantsCsv(headers)) return this.service.usage(accountId, query, signal);
    return csvFile('usage', await this.service.csv(accountId, query, signal));
  }
}
