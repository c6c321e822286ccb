import { Delete, Get, Header, HttpCode, Param, Post, type StreamableFile } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import type { Cancellation } from '../common/async.js';
import { answerOf, Idempotent } from '../http/idempotent.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestCancellation, RequestSignal, RequestUrl } from '../http/parameters.js';
import { MessagingBody, MessagingQuery } from '../http/validation.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import { ListMessagesQuery, SendMediaBody, SendTextBody, SessionStatusQuery } from './msgapp.dto.js';
import type { MsgappMessage, MsgappPage } from './msgapp-results.js';
import { MsgappService } from './msgapp-service.js';
import { ReceivedFiles } from './received/received-files.js';
import { SessionManager } from './sessions/session-manager.js';
import type { PendingSession, SessionsView } from './sessions/session-view.js';

/** The routes of one messaging-app channel (contract.md section 6). */
@MessagingController()
export class MsgappController {
  constructor(
    private readonly sessions: SessionManager,
    private readonly messages: MsgappService,
    private readonly files: ReceivedFiles,
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
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestCancellation() signal: Cancellation,
  ): Promise<object> {
    return answerOf(this.messages.acceptText(accountId, body, { once, signal }), headers);
  }

  @Post('send/media')
  @HttpCode(200)
  sendMedia(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: SendMediaBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestSignal() signal: AbortSignal,
  ): Promise<object> {
    return answerOf(this.messages.acceptMedia(accountId, body, { once, signal }), headers);
  }

  @Get('messages')
  list(@Caller() { accountId }: Caller, @MessagingQuery() query: ListMessagesQuery): Promise<MsgappPage> {
    return this.messages.list(accountId, query);
  }

  @Get('messages/:messageID')
  message(@Caller() { accountId }: Caller, @Param('messageID') messageId: string): Promise<MsgappMessage> {
    return this.messages.message(accountId, messageId);
  }

  @Get('received/:receivedID/media')
  @Header('Cache-Control', 'private, no-store')
  @Header('Content-Security-Policy', 'sandbox')
  @Header('X-Content-Type-Options', 'nosniff')
  receivedMedia(
    @Caller() { accountId }: Caller,
    @Param('receivedID') id: string,
    @RequestSignal() signal: AbortSignal,
  ): Promise<StreamableFile> {
    return this.files.open(accountId, id, signal);
  }
}

/** Response to a connect: a session that waits to be linked, and the URL of its codes. */
interface LinkOffer extends PendingSession {
  /** URL of the session's events. The token in it is the only authentication. */
  readonly qr_url: string;
}

/** @param connectUrl the URL that requested the session: `…/web/connect` */
function linkOffer({ expires_at, ...session }: PendingSession, connectUrl: string): LinkOffer {
  const qr_url = `${connectUrl.replace(/[^/]*\/?$/, '')}qr/${session.qrToken}`;
  return { ...session, qr_url, expires_at };
}
