import type { IncomingHttpHeaders } from 'node:http';
import { Get, Header } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestHeaders } from '../http/parameters.js';
import { MetricsAccess } from './metrics-access.js';

/**
 * `GET /metrics`, if the host's options ask for it. It is not behind our edge, so that a scrape is also answered during a shutdown.
 */
@MessagingController({ authenticated: false, intake: false })
export class MetricsController {
  constructor(
    private readonly telemetry: SafeTelemetry,
    private readonly access: MetricsAccess,
  ) {}

  @Get('metrics')
  @Header('Cache-Control', 'no-store')
  async metrics(
    @RequestHeaders() { authorization }: IncomingHttpHeaders,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    if (!this.access.allows(authorization)) throw new MessagingError('error.unauthorized');
    const { contentType, body } = await this.telemetry.scrape();
    headers.set('Content-Type', contentType);
    return body;
  }
}
