import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Author } from '../../accounts/audit/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { TextAccess } from '../../accounts/text-access.js';
import { Change } from '../../http/change.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import { Idempotency } from '../../outbox/idempotency.js';
import { AccountOptOuts } from './account-opt-outs.js';
import type { OptOutPage } from './optout.api.js';
import { AddOptOutsBody, ListOptOutsQuery } from './optouts.dto.js';

/** The routes of an account's suppression list (docs/management-api.md). */
@MessagingController()
export class OptOutsController {
  constructor(
    private readonly optOuts: AccountOptOuts,
    private readonly idempotency: Idempotency,
    private readonly texts: TextAccess,
  ) {}

  @Get('optouts')
  @Needs('optouts.read')
  async list(@Caller() caller: Caller, @MessagingQuery() query: ListOptOutsQuery): Promise<OptOutPage> {
    return this.texts.many(caller, await this.optOuts.list(caller.accountId, query));
  }

  @Post('optouts')
  @Needs('optouts.write')
  @HttpCode(200)
  add(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: AddOptOutsBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer(({ by, once }) => {
      const add = async () => ({ added: await this.optOuts.add(accountId, body, { by }) });
      return this.idempotency.keeping(accountId, 'optouts', once, add);
    });
  }

  @Delete('optouts/:id')
  @Needs('optouts.write')
  async remove(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @Author() by: Author,
  ): Promise<{ readonly success: true }> {
    await this.optOuts.remove(accountId, id, { by });
    return { success: true };
  }
}
