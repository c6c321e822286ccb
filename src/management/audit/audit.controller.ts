import { Get } from '@nestjs/common';
import type { AuditPage } from '../../accounts/audit/audit.api.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingQuery } from '../../http/validation.js';
import { ListAuditQuery } from './audit.dto.js';
import { AuditService } from './audit-service.js';

/** The route of an account's changes (docs/management-api.md). */
@MessagingController()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('audit')
  @Needs('audit.read')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: ListAuditQuery): Promise<AuditPage> {
    return this.audit.list(accountId, query);
  }
}
