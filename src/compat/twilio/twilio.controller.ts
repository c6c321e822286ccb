import type { IncomingHttpHeaders } from 'node:http';
import { Get, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { AccountSettings } from '../../accounts/account-options.js';
import type { Caller } from '../../accounts/keys/authenticator.js';
import type { PermissionName } from '../../accounts/keys/permissions.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { type FaultLog, faultLog } from '../../common/log.js';
import { logFault } from '../../http/errors.js';
import { IncomingCall } from '../../http/incoming-call.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { RawBody, ReplyHeaders, RequestHeaders } from '../../http/parameters.js';
import { DoorCallers } from '../door-callers.js';
import { firstValues, readForm } from '../form.js';
import { TwilioRefusal, twilioError } from './twilio-errors.js';
import { idOf, sidOf } from './twilio-ids.js';
import { TwilioMessages } from './twilio-messages.js';
import { TwilioVerify } from './twilio-verify.js';

/** The maximum size of a form, in bytes. */
const MAX_BYTES = 65_536;

const MESSAGES = 'twilio/2010-04-01/Accounts/:accountSid/Messages.json';
const MESSAGE = 'twilio/2010-04-01/Accounts/:accountSid/Messages/:file';

/** The routes of Twilio that this service can answer (docs/compat.md). */
@MessagingController({ authenticated: false })
export class TwilioController {
  private readonly log: FaultLog;

  constructor(
    private readonly callers: DoorCallers,
    private readonly messages: TwilioMessages,
    private readonly verify: TwilioVerify,
    private readonly settings: AccountSettings,
    clock: Clock,
  ) {
    this.log = faultLog('Messaging', clock);
  }

  @Post(MESSAGES)
  @HttpCode(201)
  @MessagingRoute({ rawBody: MAX_BYTES })
  create(
    @Param('accountSid') accountSid: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @RawBody() body: Uint8Array,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    return this.answer(reply, async () => {
      const { caller, password } = await this.admit({ accountSid, headers, ip, permission: 'sms.send' });
      return this.messages.create(caller, password, readForm(headers, body));
    });
  }

  @Get(MESSAGES)
  @MessagingRoute({ rawBody: 0 })
  list(
    @Param('accountSid') accountSid: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @IncomingCall() { target }: IncomingCall,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    return this.answer(reply, async () => {
      const { caller } = await this.admit({ accountSid, headers, ip, permission: 'messages.read' });
      return this.messages.list(caller.accountId, firstValues(new URL(target, 'http://localhost').searchParams));
    });
  }

  @Get(MESSAGE)
  @MessagingRoute({ rawBody: 0 })
  fetch(
    @Param('accountSid') accountSid: string,
    @Param('file') file: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    return this.answer(reply, async () => {
      const { caller } = await this.admit({ accountSid, headers, ip, permission: 'messages.read' });
      return this.messages.get(caller.accountId, nameOf(file));
    });
  }

  @Post(MESSAGE)
  @HttpCode(200)
  @MessagingRoute({ rawBody: MAX_BYTES })
  change(
    @Param('accountSid') accountSid: string,
    @Param('file') file: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @RawBody() body: Uint8Array,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    return this.answer(reply, async () => {
      const { caller } = await this.admit({ accountSid, headers, ip, permission: 'sms.send' });
      return this.messages.change(caller.accountId, nameOf(file), readForm(headers, body));
    });
  }

  @Post('twilio/v2/Services/:serviceSid/Verifications')
  @HttpCode(201)
  @MessagingRoute({ rawBody: MAX_BYTES })
  startVerification(
    @Param('serviceSid') serviceSid: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @RawBody() body: Uint8Array,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    return this.answer(reply, async () => {
      const { caller } = await this.admit({ headers, ip, permission: 'otp.send' });
      return this.verify.send(caller, serviceSid, readForm(headers, body));
    });
  }

  @Post('twilio/v2/Services/:serviceSid/VerificationCheck')
  @HttpCode(201)
  @MessagingRoute({ rawBody: MAX_BYTES })
  checkVerification(
    @Param('serviceSid') serviceSid: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @RawBody() body: Uint8Array,
    @Ip() ip: string | undefined,
    @ReplyHeaders() reply: ReplyHeaders,
  ): Promise<object> {
    return this.answer(reply, async () => {
      const { caller } = await this.admit({ headers, ip, permission: 'otp.verify' });
      return this.verify.check(caller, serviceSid, readForm(headers, body));
    });
  }

  /**
   * The caller of a request. Both the user name and the path name the account of the key.
   * @throws MessagingError for a key that is refused, and for the id of another account
   */
  private async admit({ accountSid, headers, ip, permission }: Admitted): Promise<AdmittedCaller> {
    const { user, password, caller } = await this.callers.byBasic(headers, permission, ip);
    for (const sid of [user, accountSid ?? user]) {
      if (sidOf('AC', idOf('AC', sid)) !== sidOf('AC', caller.accountId))
        throw new MessagingError('error.unauthorized');
    }
    return { caller, password };
  }

  /** Answers with the result of `work`, or with its error in Twilio's shape. */
  private async answer(reply: ReplyHeaders, work: () => Promise<object>): Promise<object> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TwilioRefusal)) logFault(this.log, error);
      const { body, headers } = twilioError(error, this.settings.catalogue);
      reply.status(body.status);
      for (const [name, value] of Object.entries(headers)) reply.set(name, value);
      return body;
    }
  }
}

interface AdmittedCaller {
  readonly caller: Caller;
  /** The API key as it came. */
  readonly password: string;
}

interface Admitted {
  /** The account in the path; undefined if the path names none. */
  readonly accountSid?: string;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string | undefined;
  readonly permission: PermissionName;
}

/** The id in the name of a resource, `SM….json`. */
function nameOf(file: string): string {
  return file.replace(/\.json$/, '');
}
