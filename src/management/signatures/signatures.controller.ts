import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Author } from '../../accounts/audit/author.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { SignatureService } from '../../accounts/signatures/signature-service.js';
import { Change } from '../../http/change.decorator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingBody, MessagingQuery } from '../../http/validation.js';
import { Idempotency } from '../../outbox/idempotency.js';
import { PageQuery } from '../list-query.js';
import { AccountSignatures } from './account-signatures.js';
import { type SignaturePage } from './signature.api.js';
import { signatureView } from './signature-view.js';
import { RegisterSignatureBody } from './signatures.dto.js';

/** The routes of an account's sender names (docs/management-api.md). */
@MessagingController()
export class SignaturesController {
  constructor(
    private readonly signatures: SignatureService,
    private readonly listing: AccountSignatures,
    private readonly idempotency: Idempotency,
  ) {}

  @Get('signatures')
  @Needs('signatures.read')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: PageQuery): Promise<SignaturePage> {
    return this.listing.list(accountId, query);
  }

  @Post('signatures')
  @Needs('signatures.write')
  @HttpCode(200)
  register(
    @Caller() { accountId }: Caller,
    @MessagingBody() { name }: RegisterSignatureBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer(({ by, once }) => {
      const register = async () => signatureView(await this.signatures.register(accountId, name, { by }));
      return this.idempotency.keeping(accountId, 'signatures', once, register);
    });
  }

  @Delete('signatures/:name')
  @Needs('signatures.write')
  async remove(
    @Caller() { accountId }: Caller,
    @Param('name') name: string,
    @Author() by: Author,
  ): Promise<{ readonly success: true }> {
    await this.signatures.remove(accountId, name, { by });
    return { success: true };
  }
}
