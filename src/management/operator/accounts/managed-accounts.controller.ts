import { Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { Author } from '../../../accounts/audit/author.decorator.js';
import { Needs } from '../../../accounts/keys/needs.decorator.js';
import { Change } from '../../../http/change.decorator.js';
import { MessagingController } from '../../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../../http/validation.js';
import {
  ChangeAccountBody,
  CreateAccountBody,
  ListAccountsQuery,
  ListSignaturesQuery,
  PostingBody,
  RejectSignatureBody,
} from '../operator.dto.js';
import type { AccountPage, AccountView } from './managed-account.api.js';
import { type ManagedSignaturePage } from './managed-account.api.js';
import { ManagedAccounts } from './managed-accounts.js';
import { ManagedSignatures } from './managed-signatures.js';

/** The routes of all accounts and their signatures (docs/management-api.md). */
@MessagingController()
export class ManagedAccountsController {
  constructor(
    private readonly accounts: ManagedAccounts,
    private readonly signatures: ManagedSignatures,
  ) {}

  @Get('manage/accounts')
  @Needs('manage.read')
  list(@MessagingQuery() query: ListAccountsQuery): Promise<AccountPage> {
    return this.accounts.list(query);
  }

  @Post('manage/accounts')
  @Needs('manage.write')
  @HttpCode(200)
  create(@MessagingBody() body: CreateAccountBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.accounts.create(body, call));
  }

  @Get('manage/accounts/:id')
  @Needs('manage.read')
  get(@Param('id') id: string): Promise<AccountView> {
    return this.accounts.get(id);
  }

  @Patch('manage/accounts/:id')
  @Needs('manage.write')
  change(
    @Param('id') id: string,
    @MessagingBody() body: ChangeAccountBody,
    @Author() by: Author,
  ): Promise<AccountView> {
    return this.accounts.update(id, body, { by });
  }

  @Post('manage/accounts/:id/suspend')
  @Needs('manage.write')
  @HttpCode(200)
  suspend(@Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.accounts.suspend(id, call));
  }

  @Post('manage/accounts/:id/resume')
  @Needs('manage.write')
  @HttpCode(200)
  resume(@Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.accounts.resume(id, call));
  }

  @Post('manage/accounts/:id/close')
  @Needs('manage.write')
  @HttpCode(200)
  close(@Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.accounts.close(id, call));
  }

  @Post('manage/accounts/:id/topups')
  @Needs('manage.post')
  @HttpCode(200)
  topUp(@Param('id') id: string, @MessagingBody() body: PostingBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.accounts.topUp(id, body, call));
  }

  @Post('manage/accounts/:id/adjustments')
  @Needs('manage.post')
  @HttpCode(200)
  adjust(@Param('id') id: string, @MessagingBody() body: PostingBody, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.accounts.adjust(id, body, call));
  }

  @Get('manage/signatures')
  @Needs('manage.read')
  listSignatures(@MessagingQuery() query: ListSignaturesQuery): Promise<ManagedSignaturePage> {
    return this.signatures.list(query);
  }

  @Post('manage/accounts/:id/signatures/:name/verify')
  @Needs('manage.write')
  @HttpCode(200)
  verifySignature(@Param('id') id: string, @Param('name') name: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.signatures.verify(id, name, call));
  }

  @Post('manage/accounts/:id/signatures/:name/reject')
  @Needs('manage.write')
  @HttpCode(200)
  rejectSignature(
    @Param('id') id: string,
    @Param('name') name: string,
    @MessagingBody() body: RejectSignatureBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.signatures.reject(id, name, body.reason, call));
  }
}
