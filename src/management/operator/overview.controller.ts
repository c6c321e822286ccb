import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { AuditPage } from '../../accounts/audit/audit.api.js';
import { Author } from '../../accounts/audit/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { TextAccess } from '../../accounts/text-access.js';
import { Change } from '../../http/change.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import { Idempotency } from '../../outbox/idempotency.js';
import { AuditService } from '../audit/audit-service.js';
import { AccountOptOuts } from '../optouts/account-opt-outs.js';
import type { OptOutPage } from '../optouts/optout.api.js';
import { AddOptOutsBody, ListOptOutsQuery } from '../optouts/optouts.dto.js';
import { type ManagedSessionPage } from './managed-session.api.js';
import { ManagedSessions } from './managed-sessions.js';
import { ListManagedAuditQuery, ListSessionsQuery } from './operator.dto.js';
import { operatorCall } from './operator-call.js';

interface Done {
  readonly success: true;
}

/** The routes over all accounts: linked numbers, opt-outs that apply to all accounts, and changes (docs/management-api.md). */
@MessagingController()
export class OperatorOverviewController {
  constructor(
    private readonly sessions: ManagedSessions,
    private readonly optOuts: AccountOptOuts,
    private readonly audit: AuditService,
    private readonly idempotency: Idempotency,
    private readonly texts: TextAccess,
  ) {}

  @Get('manage/sessions')
  @Needs('manage.read')
  async listSessions(
    @Caller() caller: Caller,
    @MessagingQuery() query: ListSessionsQuery,
  ): Promise<ManagedSessionPage> {
    return this.texts.many(caller, await this.sessions.list(query));
  }

  @Delete('manage/sessions/:id')
  @Needs('manage.write')
  async unlink(@Param('id') id: string, @Author() by: Author): Promise<Done> {
    await this.sessions.unlink(id, { by });
    return { success: true };
  }

  @Get('manage/optouts')
  @Needs('manage.read')
  async listOptOuts(@Caller() caller: Caller, @MessagingQuery() query: ListOptOutsQuery): Promise<OptOutPage> {
    return this.texts.many(caller, await this.optOuts.list(undefined, query));
  }

  @Post('manage/optouts')
  @Needs('manage.write')
  @HttpCode(200)
  addOptOuts(@MessagingBody() body: AddOptOutsBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => {
      const { by, once, scope } = operatorCall('an opt-out', call);
      const add = async () => ({ added: await this.optOuts.add(undefined, body, { by }) });
      return this.idempotency.keeping(scope, 'manage/optouts', once, add);
    });
  }

  @Delete('manage/optouts/:id')
  @Needs('manage.write')
  async removeOptOut(@Param('id') id: string, @Author() by: Author): Promise<Done> {
    await this.optOuts.remove(undefined, id, { by });
    return { success: true };
  }

  @Get('manage/audit')
  @Needs('manage.read')
  listAudit(@MessagingQuery() { account, ...query }: ListManagedAuditQuery): Promise<AuditPage> {
    return this.audit.list(account, query);
  }
}
