import { Get } from '@nestjs/common';
import { Needs } from '../accounts/needs.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { type HealthReport, HealthService } from './health-service.js';

/** `GET /manage/health`: each check of the process that answers, for the operator. */
@MessagingController()
export class HealthDetailController {
  constructor(private readonly health: HealthService) {}

  @Get('manage/health')
  @Needs('manage.read')
  detail(): Promise<HealthReport> {
    return this.health.report();
  }
}
