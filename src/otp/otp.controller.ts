import { HttpCode, Post } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import { MessagingBody } from '../http/messaging-body.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { Once } from '../http/once.decorator.js';
import { answerOf } from '../http/replay.js';
import { ReplyHeaders } from '../http/reply-headers.decorator.js';
import { RequestSignal } from '../http/request-signal.decorator.js';
import type { OnceRequest } from '../outbox/once-gate.js';
import { SendOtpBody, VerifyOtpBody } from './otp.dto.js';
import { OtpService } from './otp-service.js';
import { OtpSettings } from './otp-settings.js';
import { type VerifyReceipt, verifyAnswer } from './verify-answer.js';

/** The routes of one-time passcodes (contract.md section 4). */
@MessagingController()
export class OtpController {
  constructor(
    private readonly otp: OtpService,
    private readonly settings: OtpSettings,
  ) {}

  @Post('send/otp')
  @HttpCode(200)
  send(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: SendOtpBody,
    @Once() once: OnceRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestSignal() signal: AbortSignal,
  ): Promise<object> {
    return answerOf(this.otp.accept(accountId, body, { once, signal }), headers);
  }

  @Post('verify/otp')
  @HttpCode(200)
  async verify(@Caller() { accountId }: Caller, @MessagingBody() body: VerifyOtpBody): Promise<VerifyReceipt> {
    return verifyAnswer(await this.otp.verify(accountId, body), this.settings.catalogue);
  }
}
