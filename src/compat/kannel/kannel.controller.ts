import { Get, Header, HttpCode, Ip } from '@nestjs/common';
import { AccountSettings } from '../../accounts/account-options.js';
import { Clock } from '../../common/clock.js';
import { type FaultLog, faultLog } from '../../common/log.js';
import { logFault } from '../../http/errors.js';
import { IncomingCall } from '../../http/incoming-call.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { ReplyHeaders } from '../../http/parameters.js';
import { ACCEPTED, type KannelAnswer, KannelRefusal, kannelRefusal } from './kannel-refusal.js';
import { KannelSends } from './kannel-sends.js';

/** The `sendsms` of Kannel (docs/compat.md). */
@MessagingController({ authenticated: false })
export class KannelController {
  private readonly log: FaultLog;

  constructor(
    private readonly sends: KannelSends,
    private readonly settings: AccountSettings,
    clock: Clock,
  ) {
    this.log = faultLog('Messaging', clock);
  }

  @Get('kannel/cgi-bin/sendsms')
  @HttpCode(202)
  @Header('Cache-Control', 'no-store')
  @MessagingRoute({ rawBody: 0 })
  async send(
    @IncomingCall() { method, target }: IncomingCall,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<string> {
    const { status, text, headers } = await this.answer(method, target, ip);
    reply.status(status);
    for (const [name, value] of Object.entries(headers)) reply.set(name, value);
    reply.set('Content-Type', 'text/plain; charset=utf-8');
    return text;
  }

  private async answer(method: string, target: string, ip: string | undefined): Promise<KannelAnswer> {
    try {
      // Frameworks route HEAD to GET, and a HEAD must not send.
      if (method !== 'GET') throw new KannelRefusal(400, 'Only GET sends');
      await this.sends.send(target, ip);
      return ACCEPTED;
    } catch (error) {
      if (!(error instanceof KannelRefusal)) logFault(this.log, error);
      return kannelRefusal(error, this.settings.catalogue);
    }
  }
}
