import { Get, Header, Headers, HttpCode, Optional, Param, Post, UseGuards } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { RawBody, RequestUrl } from '../../http/parameters.js';
import { CallVerifier } from '../../webhooks/endpoints/call-verifier.js';
import { SameOriginGuard, SandboxHostGuard } from '../sandbox-guards.js';
import { HookInbox } from './hook-inbox.js';
import { HOOK_NAME, HookTarget } from './hook-target.js';
import { hookCallView } from './hook-view.js';
import type { HooksView } from './hooks.api.js';
import { type HookCallView } from './hooks.api.js';

/** The largest call, in bytes. */
const MAX_BYTES = 65_536;

/** Receives the calls of webhooks. Our own request gate reads the body of this route, whatever body parser the host uses. */
@MessagingController({ authenticated: false })
@UseGuards(SandboxHostGuard, SameOriginGuard)
export class SandboxHookController {
  constructor(
    private readonly inbox: HookInbox,
    private readonly clock: Clock,
    @Optional() private readonly verifier?: CallVerifier,
  ) {}

  /** Receives a call of a webhook. */
  @Post('hooks/:name')
  @HttpCode(204)
  @MessagingRoute({ rawBody: MAX_BYTES })
  async receive(
    @Param('name') name: string,
    @RequestUrl() url: string,
    @Headers() headers: Readonly<Record<string, string | undefined>>,
    @RawBody() bytes: Uint8Array,
  ): Promise<void> {
    checkName(name);
    const at = this.clock.now();
    const [id = '', timestamp = '', webhookSignature = ''] = ['id', 'timestamp', 'signature'].map(
      (field) => headers[`webhook-${field}`],
    );
    const body = Buffer.from(bytes).toString();
    const verified = await this.verifier?.verify({ url, id, timestamp, webhookSignature, body });
    this.inbox.receive(name, { at, webhookId: id.slice(0, 255), verified, body });
  }
}

/** Shows the received calls. */
@MessagingController({ authenticated: false, intake: false })
@UseGuards(SandboxHostGuard)
export class SandboxHooksController {
  constructor(
    private readonly inbox: HookInbox,
    private readonly target: HookTarget,
  ) {}

  /** Returns the names that have calls, and the URL at which they are called. */
  @Get('hooks')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  names(@RequestUrl() url: string): HooksView {
    const { origin } = this.target;
    const path = url.replace(/^https?:\/\/[^/]*/, '').replace(/\/+$/, '');
    return { url: origin === undefined ? null : `${origin}${path}/`, names: this.inbox.names };
  }

  /** Returns the newest calls of a name, about 1 MB of them, the newest first. */
  @Get('hooks/:name')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  calls(@Param('name') name: string): readonly HookCallView[] {
    checkName(name);
    return this.inbox.newestCalls(name).map(hookCallView);
  }
}

/** @throws MessagingError `error.field_invalid` */
function checkName(name: string): void {
  if (!HOOK_NAME.test(name)) throw new MessagingError('error.field_invalid', { field: 'name' });
}
