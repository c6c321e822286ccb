import { Get, Header, Res } from '@nestjs/common';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingRoute } from '../http/mounted-routes.js';
import { type HealthReport } from './health.api.js';
import { HealthService } from './health-service.js';

/** The common part of Express's response and Fastify's reply. */
interface StatusResponse {
  status(code: number): unknown;
}

/** The whole answer of a health route. It has no details, because strangers may read it. */
type HealthAnswer = Pick<HealthReport, 'status'>;

/**
 * `GET /health/live` and `GET /health/ready`, without a key. They take no body, and answer while a shutdown refuses other
 * requests.
 */
@MessagingController({ authenticated: false, intake: false })
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Checks only that this process answers. */
  @Get('health/live')
  @MessagingRoute({ whileClosing: true })
  @Header('Cache-Control', 'no-store')
  live(): HealthAnswer {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @MessagingRoute({ whileClosing: true })
  @Header('Cache-Control', 'no-store')
  async ready(@Res({ passthrough: true }) response: StatusResponse): Promise<HealthAnswer> {
    const isReady = await this.health.isReady();
    if (!isReady) response.status(503);
    return { status: isReady ? 'ok' : 'unavailable' };
  }
}

/** `GET /manage/health`: all checks of the process that answers, for the operator. */
@MessagingController()
export class HealthDetailController {
  constructor(private readonly health: HealthService) {}

  @Get('manage/health')
  @Needs('manage.read')
  detail(): Promise<HealthReport> {
    return this.health.report();
  }
}
