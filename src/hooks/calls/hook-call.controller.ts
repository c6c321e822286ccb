import type { IncomingHttpHeaders } from 'node:http';
import { HttpCode, Param, Post } from '@nestjs/common';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { RawBody, ReplyHeaders, RequestHeaders } from '../../http/parameters.js';
import { LoginHookCalls } from './login-hook-calls.js';

/** The largest body of a call, in bytes. Supabase sends the whole user with it. */
export const MAX_CALL_BYTES = 262_144;

/** Receives the calls of log-in systems. They need no API key: each kind has a proof of its own. */
@MessagingController({ authenticated: false })
export class HookCallController {
  constructor(private readonly calls: LoginHookCalls) {}

  @Post('hooks/:id')
  @HttpCode(200)
  @MessagingRoute({ rawBody: MAX_CALL_BYTES })
  async call(
    @Param('id') id: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    const answer = await this.calls.receive(id, { headers: joined(headers), body });
    reply.status(answer.status);
    for (const [name, value] of Object.entries(answer.headers)) reply.set(name, value);
    return answer.body;
  }
}

/** Joins the values of repeated headers. Node does so itself, except for a few headers. */
function joined(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
