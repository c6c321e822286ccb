import { Delete, Get, Header, HttpCode, Param, Post, type StreamableFile } from '@nestjs/common';
import { Author } from '../accounts/audit/author.decorator.js';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { TextAccess } from '../accounts/text-access.js';
import type { Cancellation } from '../common/concurrency/async.js';
import { answerOf, Idempotent } from '../http/idempotent.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestCancellation, RequestSignal, RequestUrl } from '../http/parameters.js';
import { MessagingBody, MessagingQuery } from '../http/validation.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import type { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import type { LinkOffer, MsgappMessage, MsgappPage, PendingSession, SessionsView } from './msgapp.api.js';
import {
  CancelMessageQuery,
  ConnectBody,
  ListMessagesQuery,
  ReactBody,
  SendMediaBody,
  SendTextBody,
  SessionStatusQuery,
} from './msgapp.dto.js';
import { MsgappService } from './msgapp-service.js';
import { ReceivedActs } from './received/received-acts.js';
import { ReceivedFiles } from './received/received-files.js';
import { SessionManager } from './sessions/session-manager.js';

/** The routes of one messaging-app channel (docs/messaging-app.md). */
@MessagingController()
export class MsgappController {
  constructor(
    private readonly sessions: SessionManager,
    private readonly messages: MsgappService,
    private readonly files: ReceivedFiles,
    private readonly acts: ReceivedActs,
    private readonly texts: TextAccess,
  ) {}

  @Post('web/connect')
  @Needs('msgapp.connect')
  @HttpCode(200)
  async connect(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: ConnectBody,
    @RequestUrl() url: string,
    @RequestSignal() signal: AbortSignal,
    @Author() by: Author,
  ): Promise<LinkOffer> {
    return linkOffer(await this.sessions.connect(accountId, signal, by, body), url);
  }

  @Get('web/status')
  @Needs('msgapp.status')
  async status(@Caller() caller: Caller, @MessagingQuery() query: SessionStatusQuery): Promise<SessionsView> {
    return this.texts.many(caller, await this.sessions.status(caller.accountId, query.sessionID));
  }

  @Delete('web/:sessionID')
  @Needs('msgapp.unlink')
  async logout(
    @Caller() { accountId }: Caller,
    @Param('sessionID') sessionId: string,
    @Author() by: Author,
  ): Promise<{ readonly success: true }> {
    await this.sessions.logout(accountId, sessionId, by);
    return { success: true };
  }

  @Post('send/text')
  @Needs('msgapp.send')
  @HttpCode(200)
  sendText(
    @Caller() { accountId, key }: Caller,
    @MessagingBody() body: SendTextBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestCancellation() signal: Cancellation,
  ): Promise<object> {
    return answerOf(this.messages.acceptText(accountId, body, { once, signal, key }), headers);
  }

  @Post('send/media')
  @Needs('msgapp.send')
  @HttpCode(200)
  sendMedia(
    @Caller() { accountId, key }: Caller,
    @MessagingBody() body: SendMediaBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
    @RequestSignal() signal: AbortSignal,
  ): Promise<object> {
    return answerOf(this.messages.acceptMedia(accountId, body, { once, signal, key }), headers);
  }

  @Get('messages')
  @Needs('messages.read')
  async list(@Caller() caller: Caller, @MessagingQuery() query: ListMessagesQuery): Promise<MsgappPage> {
    return this.texts.many(caller, await this.messages.list(caller.accountId, query));
  }

  @Get('messages/:messageID')
  @Needs('messages.read')
  async message(
    @Caller() caller: Caller,
    @Param('messageID') messageId: string,
    @Author() by: Author,
  ): Promise<MsgappMessage> {
    return this.texts.one(caller, by, messageId, await this.messages.message(caller.accountId, messageId));
  }

  @Delete('messages/:messageID')
  @Needs('msgapp.cancel')
  cancel(
    @Caller() { accountId }: Caller,
    @Param('messageID') messageId: string,
    @MessagingQuery() { number }: CancelMessageQuery,
    @Author() by: Author,
  ): Promise<CanceledMessage> {
    return this.messages.cancel(accountId, messageId, { number, by });
  }

  @Post('received/:receivedID/seen')
  @Needs('msgapp.send')
  @HttpCode(200)
  async seen(@Caller() { accountId }: Caller, @Param('receivedID') id: string): Promise<{ readonly success: true }> {
    await this.acts.seen(accountId, id);
    return { success: true };
  }

  @Post('received/:receivedID/react')
  @Needs('msgapp.send')
  @HttpCode(200)
  async react(
    @Caller() { accountId }: Caller,
    @Param('receivedID') id: string,
    @MessagingBody() { emoji }: ReactBody,
  ): Promise<{ readonly success: true }> {
    await this.acts.react(accountId, id, emoji);
    return { success: true };
  }

  @Get('received/:receivedID/media')
  @Needs('files.read')
  @Header('Cache-Control', 'private, no-store')
  @Header('Content-Security-Policy', 'sandbox')
  @Header('X-Content-Type-Options', 'nosniff')
  async receivedMedia(
    @Caller() caller: Caller,
    @Param('receivedID') id: string,
    @RequestSignal() signal: AbortSignal,
    @Author() by: Author,
  ): Promise<StreamableFile> {
    await this.texts.file(caller, by, id);
    return this.files.open(caller.accountId, id, signal);
  }
}

/** @param connectUrl the URL that requested the session: `…/web/connect` */
function linkOffer({ expires_at, ...session }: PendingSession, connectUrl: string): LinkOffer {
  const qr_url = `${connectUrl.replace(/[^/]*\/?$/, '')}qr/${session.qrToken}`;
  return { ...session, qr_url, expires_at };
}
