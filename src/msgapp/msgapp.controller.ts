import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import { MessagingBody, MessagingQuery } from '../http/messaging-body.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { Once } from '../http/once.decorator.js';
import { answerOf } from '../http/replay.js';
import { ReplyHeaders } from '../http/reply-headers.decorator.js';
import { RequestSignal } from '../http/request-signal.decorator.js';
import { RequestUrl } from '../http/request-url.decorator.js';
import type { OnceRequest } from '../outbox/once-gate.js';
import { type LinkOffer, linkOffer } from './link-offer.js';
import { SendMediaBody, SendTextBody, SessionStatusQuery } from './msgapp.dto.js';
import type { MsgappMessage } from './msgapp-results.js';
import { MsgappService } from './msgapp-service.js';
import { SessionManager } from './session-manager.js';
import type { SessionsView } from './session-view.js';

/** The routes of one messaging-app channel (contract.md section 6). */
@MessagingController()
export class MsgappController {
  constructor(
    private readonly sessions: SessionManager,
    private readonly messages: MsgappService,
  ) {}

  @Post('web/connect')
  @HttpCode(200)
  async connect(
    @Caller() { accountId }: Caller,
    @RequestUrl() url: string,
    @RequestSignal() signal: AbortSignal,
  ): Promise<LinkOffer> {
    return linkOffer(await this.sessions.connect(accountId, signal), url);
  }

  @Get('web/status')
  status(@Caller() { accountId }: Caller, @MessagingQuery() query: SessionStatusQuery): Promise<SessionsView> {
    return this.sessions.status(accountId, query.sessionID);
  }

  @Delete('web/:sessionID')
  async logout(
    @Caller() { accountId }: Caller,
    @Param('sessionID') sessionId: string,
  ): Promise<{ readonly success: true }> {
    await this.sessions.logout(accountId, sessionId);
    return { success: true };
  }

  @Post('send/text')
  @HttpCode(200)
  sendText(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: SendTextBody,
    @Once() once: OnceRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestSignal() signal: AbortSignal,
  ): Promise<object> {
    return answerOf(this.messages.acceptText(accountId, body, { once, signal }), headers);
  }

  @Post('send/media')
  @HttpCode(200)
  sendMedia(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: SendMediaBody,
    @Once() once: OnceRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestSignal() signal: AbortSignal,
  ): Promise<object> {
    return answerOf(this.messages.acceptMedia(accountId, body, { once, signal }), headers);
  }

  @Get('messages/:messageID')
  message(@Caller() { accountId }: Caller, @Param('messageID') messageId: string): Promise<MsgappMessage> {
    return this.messages.message(accountId, messageId);
  }
}
