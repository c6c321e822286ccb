import { HttpCode, Post } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import type { Cancellation } from '../common/concurrency/async.js';
import { MessagingError } from '../common/errors.js';
import { type Catalogue, renderText } from '../common/text/catalogue.js';
import { answerOf, Idempotent } from '../http/idempotent.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestCancellation } from '../http/parameters.js';
import { MessagingBody } from '../http/validation.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import type { OtpVerified } from './otp.api.js';
import { SendOtpBody, VerifyOtpBody } from './otp.dto.js';
import type { VerifyOutcome } from './otp-results.js';
import { OtpService } from './otp-service.js';
import { OtpSettings } from './otp-settings.js';

/** The routes of one-time passcodes (docs/otp.md). */
@MessagingController()
export class OtpController {
  constructor(
    private readonly otp: OtpService,
    private readonly settings: OtpSettings,
  ) {}

  @Post('send/otp')
  @Needs('otp.send')
  @HttpCode(200)
  send(
    @Caller() { accountId, key }: Caller,
    @MessagingBody() body: SendOtpBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestCancellation() signal: Cancellation,
  ): Promise<object> {
    return answerOf(this.otp.accept(accountId, body, { once, signal, key }), headers);
  }

  @Post('verify/otp')
  @Needs('otp.verify')
  @HttpCode(200)
  async verify(@Caller() { accountId }: Caller, @MessagingBody() body: VerifyOtpBody): Promise<OtpVerified> {
    return verifyReply(await this.otp.verify(accountId, body), this.settings.catalogue);
  }
}

const REFUSALS = {
  malformed: 'error.otp_invalid',
  wrong: 'error.otp_invalid',
  exhausted: 'error.otp_invalid',
  not_found: 'error.otp_not_found',
  spent: 'error.otp_not_found',
  locked: 'error.otp_locked',
  expired: 'error.otp_expired',
  already_verified: 'error.otp_already_verified',
} as const satisfies Record<Exclude<VerifyOutcome['kind'], 'verified'>, string>;

/**
 * Returns the reply to an attempt.
 * @throws MessagingError for any outcome but a correct code
 */
function verifyReply(outcome: VerifyOutcome, catalogue: Catalogue): OtpVerified {
  if (outcome.kind === 'verified') return { success: true, message: renderText(catalogue, 'otp.verified') };
  const retryAfter = outcome.kind === 'locked' ? outcome.retryAfter : undefined;
  throw new MessagingError(REFUSALS[outcome.kind], {}, retryAfter);
}
