import type { IncomingHttpHeaders } from 'node:http';
import { Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import { Admission } from '../accounts/admission.js';
import { Author } from '../accounts/audit/author.decorator.js';
import { Caller } from '../accounts/caller.decorator.js';
import { Authenticator, callerOf, type HttpRequest, rawRequestOf } from '../accounts/keys/authenticator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { permissionOf } from '../accounts/keys/permissions.js';
import { MessagingError } from '../common/errors.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders, RequestHeaders } from '../http/parameters.js';
import { MessagingBody } from '../http/validation.js';
import { McpServers } from './mcp-servers.js';
import type { Tool } from './mcp-tool.js';

/** The headers that the protocol reads. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version'] as const;

/** The transport wants a URL, but reads nothing from it. */
const URL = 'http://localhost/mcp';

/** The route of the Model Context Protocol (docs/mcp.md). */
@MessagingController()
export class McpController {
  constructor(
    private readonly servers: McpServers,
    private readonly authenticator: Authenticator,
    private readonly admission: Admission,
  ) {}

  @Post()
  @Needs('mcp.call')
  @HttpCode(200)
  async call(
    @Req() request: HttpRequest,
    @Caller() caller: Caller,
    @Author() by: Author,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @MessagingBody() message: object,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<unknown> {
    const known = callerOf(rawRequestOf(request), this.authenticator);
    // A guard of the host that replaces ours remembers no answer.
    const answer = known?.kind === 'caller' ? known : ({ kind: 'caller', caller } as const);
    const refusalOf = async ({ permission }: Tool): Promise<MessagingError | undefined> => {
      if (permission === undefined) return undefined;
      const asked = { target: '', ip: by.address, again: true };
      const admitted = await this.admission.admit(answer, permissionOf(permission), asked);
      return admitted.kind === 'refused' ? new MessagingError(admitted.code, {}, admitted.retryAfter) : undefined;
    };
    const { status, body } = await this.servers.answer({
      caller,
      by,
      refusalOf,
      url: URL,
      headers: protocolHeaders(headers),
      message,
    });
    reply.status(status);
    return body;
  }

  /** There are no streams and no sessions, and the protocol says so with a 405. */
  @Get()
  @Needs('mcp.call')
  @HttpCode(405)
  stream(@ReplyHeaders() reply: ReplyHeaders): object {
    return refuseMethod(reply);
  }

  @Delete()
  @Needs('mcp.call')
  @HttpCode(405)
  end(@ReplyHeaders() reply: ReplyHeaders): object {
    return refuseMethod(reply);
  }
}

function refuseMethod(reply: ReplyHeaders): object {
  reply.set('Allow', 'POST');
  return { jsonrpc: '2.0', error: { code: -32_000, message: 'Only POST is allowed.' }, id: null };
}

function protocolHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    PROTOCOL_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
