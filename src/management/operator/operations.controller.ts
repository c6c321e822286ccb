import { Get, HttpCode, type MessageEvent, Post, Res, Sse } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { Change } from '../../http/change.decorator.js';
import { type AdapterResponse, MAX_WAITING } from '../../http/event-streams.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { LedgerCheckStream } from './ledger-checks/ledger-check-stream.js';
import { LedgerChecks } from './ledger-checks/ledger-checks.js';
import { type LedgerCheckView, type SystemView } from './operations.api.js';
import { SystemService } from './system-service.js';

/** The routes of the ledger's check and of the system (docs/management-api.md). */
@MessagingController()
export class OperationsController {
  constructor(
    private readonly checks: LedgerChecks,
    private readonly progress: LedgerCheckStream,
    private readonly system: SystemService,
  ) {}

  @Post('manage/ledger/check')
  @Needs('manage.write')
  @HttpCode(200)
  check(@Change() change: Change): Promise<object> {
    return change.answer((call) => this.checks.start(call));
  }

  @Get('manage/ledger/check')
  @Needs('manage.read')
  lastCheck(): Promise<LedgerCheckView> {
    return this.checks.last();
  }

  @Sse('manage/ledger/check/stream', { maxPendingDataLength: MAX_WAITING })
  @Needs('manage.read')
  @MessagingRoute({ deadline: false })
  stream(@Res({ passthrough: true }) response: AdapterResponse): Observable<MessageEvent> {
    return this.progress.open(response);
  }

  @Get('manage/system')
  @Needs('manage.read')
  readSystem(): Promise<SystemView> {
    return this.system.read();
  }
}
