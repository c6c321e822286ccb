import type { IncomingHttpHeaders } from 'node:http';
import { Header, HttpCode, Ip, Post, UseGuards } from '@nestjs/common';
import { userTokenIn } from '../../accounts/keys/authenticator.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { ConnectionAddress, ReplyHeaders, RequestHeaders } from '../../http/parameters.js';
import { MessagingBody } from '../../http/validation.js';
import { GuessLimit } from './guess-limit.js';
import { ManagementKeys } from './management-keys.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { cookiesOf, setCookie } from './session-cookie.js';
import type { UserSessionView } from './user-session.api.js';
import { ExchangeBody } from './user-session.dto.js';
import { type GrantedUserSession, UserSessionService } from './user-session-service.js';

/** The sessions of users (docs/management.md). */
@MessagingController({ authenticated: false })
@UseGuards(SameOriginGuard)
export class UserSessionController {
  constructor(
    private readonly sessions: UserSessionService,
    private readonly keys: ManagementKeys,
    private readonly guesses: GuessLimit,
  ) {}

  @Post('session/exchange')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async exchange(
    @MessagingBody() body: ExchangeBody,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @Ip() address: string,
    @ConnectionAddress() connection: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<UserSessionView> {
    const exchange = () => this.sessions.exchange(body, { address, headers });
    return this.grant(await this.guesses.attempt({ address, connection }, exchange), headers, reply);
  }

  @Post('session/refresh')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async refresh(
    @RequestHeaders() headers: IncomingHttpHeaders,
    @Ip() address: string,
    @ConnectionAddress() connection: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<UserSessionView> {
    const cookies = this.cookies(headers);
    const refresh = () => this.sessions.refresh(cookies, address);
    // A browser without a cookie only asks whether it has a session, so this is not a guess.
    const granted = cookies.length === 0 ? refresh() : this.guesses.attempt({ address, connection }, refresh);
    return this.grant(await granted, headers, reply);
  }

  @Post('session/end')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async end(
    @RequestHeaders() headers: IncomingHttpHeaders,
    @Ip() address: string,
    @ConnectionAddress() connection: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<{ readonly success: true }> {
    const cookies = this.cookies(headers);
    const end = () => this.sessions.end(cookies, { address, headers });
    const guesses = cookies.length > 0 || userTokenIn(headers) !== undefined;
    await this.guesses.attempt({ address, connection }, end, (named) => guesses && !named);
    for (const { cookie } of this.keys.all) reply.addCookie(setCookie(cookie, '', 0, headers));
    return { success: true };
  }

  private grant(
    { view, cookie }: GrantedUserSession,
    headers: IncomingHttpHeaders,
    reply: ReplyHeaders,
  ): UserSessionView {
    if (cookie) reply.addCookie(setCookie(this.keys.present.cookie, cookie.value, cookie.seconds, headers));
    return view;
  }

  /** Returns the values of our cookie, those under its current name first. */
  private cookies(headers: IncomingHttpHeaders): readonly string[] {
    return this.keys.all.flatMap(({ cookie }) => cookiesOf(headers, cookie));
  }
}
