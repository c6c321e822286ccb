import { Delete, Get, Header, HttpCode, Param, Post, type StreamableFile } from '@nestjs/common';
import { type AuditEntry, AuditLog } from '../accounts/audit.js';
import { Author } from '../accounts/author.decorator.js';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/needs.decorator.js';
import { TextAccess } from '../accounts/text-access.js';
import type { Cancellation } from '../common/async.js';
import { Clock } from '../common/clock.js';
import { maskNumber } from '../common/phone-number.js';
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
import { isFinal } from './sessions/session-store.js';
import type { PendingSession, SessionsView } from './sessions/session-view.js';

/** The routes of one messaging-app channel (contract.md section 6). */
@MessagingController()
export class MsgappController {
  constructor(
    private readonly sessions: SessionManager,
    private readonly messages: MsgappService,
    private readonly files: ReceivedFiles,
    private readonly texts: TextAccess,
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  @Post('web/connect')
  @Needs('msgapp.connect')
  @HttpCode(200)
  async connect(
    @Caller() { accountId }: Caller,
    @RequestUrl() url: string,
    @RequestSignal() signal: AbortSignal,
    @Author() by: Author,
  ): Promise<LinkOffer> {
    const session = await this.sessions.connect(accountId, signal);
    // Before anybody has the token: without it no number can be linked.
    await this.record({ accountId, by, action: 'number.connect_requested', target: session.sessionID });
    return linkOffer(session, url);
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
    const session = await this.sessions.status(accountId, sessionId);
    // An attempt that is told twice is a lesser fault than a change that is not told.
    if (session.status !== 'disconnected' && !isFinal(session.status)) {
      const { status, number } = session;
      const before = { status, number: number && maskNumber(number) };
      const after = { status: 'logged_out' };
      await this.record({ accountId, by, action: 'number.unlinked', target: sessionId, before, after });
    }
    await this.sessions.logout(accountId, sessionId);
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

  private record(entry: Omit<AuditEntry, 'at'>): Promise<void> {
    return this.log.record({ ...entry, at: this.clock.now() });
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
