import {
  BadRequestException,
  Delete,
  type DynamicModule,
  Get,
  HttpCode,
  Injectable,
  Module,
  type ModuleMetadata,
  Param,
  Post,
} from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { AccountSettings } from '../../../src/accounts/account-options.js';
import { Admission } from '../../../src/accounts/admission.js';
import { Caller } from '../../../src/accounts/caller.decorator.js';
import { type Answer, Authenticator } from '../../../src/accounts/keys/authenticator.js';
import { Needs } from '../../../src/accounts/keys/needs.decorator.js';
import { Clock, SystemClock } from '../../../src/common/clock.js';
import { MessagingError, StorageUnavailableError } from '../../../src/common/errors.js';
import { MessagingEdge } from '../../../src/http/edge/messaging-edge.js';
import { HostGlobalsModule } from '../../../src/http/host-globals.js';
import { type HttpOptions, HttpSettings, resolveHttpSettings } from '../../../src/http/http-options.js';
import { Idempotent } from '../../../src/http/idempotent.decorator.js';
import { MessagingController } from '../../../src/http/messaging-controller.js';
import { mountController } from '../../../src/http/mount-controller.js';
import { MessagingRoute } from '../../../src/http/mounted-routes.js';
import { ReplyHeaders, RequestSignal } from '../../../src/http/parameters.js';
import { MessagingReadiness } from '../../../src/http/readiness.js';
import { MessagingBody, MessagingQuery } from '../../../src/http/validation.js';
import { IsPhoneNumberList, IsQueryInteger } from '../../../src/http/validators.js';
import type { IdempotentRequest } from '../../../src/outbox/idempotency.js';

/** What the handlers of the toys leave for a test to read, and what they wait for. */
@Injectable()
export class ToyBox {
  handled = 0;
  readonly signals: AbortSignal[] = [];
  /** Handlers of `slow` that have begun. */
  readonly waiting: (() => void)[] = [];
  onWaiting: () => void = () => {};

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.onWaiting();
    });
  }
}

export class ToySend {
  @IsString()
  signature!: string;

  @IsOptional()
  @IsString()
  content?: string;

  @IsPhoneNumberList()
  number!: string[];
}

export class ToyPage {
  @IsOptional()
  @IsQueryInteger(1, 500)
  limit?: number;

  @IsOptional()
  @IsString()
  cursor?: string;
}

/** Undeclared fields. */
export class Anything {}

@MessagingController()
class ToyController {
  constructor(private readonly box: ToyBox) {}

  @Post('send/sms')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  @HttpCode(200)
  send(@MessagingBody() body: ToySend, @Caller() caller: Caller) {
    this.box.handled++;
    return { body, by: caller.accountId, via: caller.via };
  }

  @Post('echo')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  @HttpCode(200)
  echo(@MessagingBody() body: Anything) {
    this.box.handled++;
    return { keys: Object.keys(body), polluted: 'polluted' in body, size: JSON.stringify(body).length };
  }

  @Get('sms')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  list(@MessagingQuery() page: ToyPage) {
    return { page };
  }

  @Get('sms/:smsID')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  one(@Param('smsID') smsID: string) {
    return { smsID };
  }

  @Delete('sessions/:id')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  remove(@Param('id') id: string, @MessagingBody() body: Anything) {
    return { id, keys: Object.keys(body) };
  }

  @Post('fail/:how')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  fail(@Param('how') how: string) {
    if (how === 'refused') throw new MessagingError('error.signature_refused');
    if (how === 'running') throw new MessagingError('error.idempotency_running', {}, 1);
    if (how === 'storage') throw new StorageUnavailableError('the disk is full');
    if (how === 'http') throw new BadRequestException(['one', 'two']);
    throw new Error('column 22670000000 of secret_table');
  }

  @Post('slow')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  @HttpCode(200)
  async slow(@RequestSignal() signal: AbortSignal, @ReplyHeaders() headers: ReplyHeaders) {
    this.box.signals.push(signal);
    await this.box.wait();
    headers.set('X-Late', 'yes');
    return { late: true };
  }

  @Get('stream')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  @MessagingRoute({ deadline: false })
  async stream() {
    await this.box.wait();
    return { streamed: true };
  }

  @Post('keyed')
  @Needs({ scopes: [], role: 'viewer', plain: true })
  @HttpCode(200)
  keyed(@Idempotent() once: IdempotentRequest | undefined, @ReplyHeaders() headers: ReplyHeaders) {
    headers.set('Idempotency-Replayed', 'true');
    return { key: once?.key ?? null };
  }
}

@MessagingController({ authenticated: false })
class OpenToyController {
  @Post('open')
  @HttpCode(200)
  open(@MessagingBody() body: Anything) {
    return { keys: Object.keys(body) };
  }
}

/**
 * `good` is admitted at once, `slow` after a look-up, `stuck` when the box says so; `down` fails; all others are
 * unknown.
 */
@Injectable()
class ToyAuthenticator {
  constructor(private readonly box: ToyBox) {}

  authenticate(headers: Readonly<Record<string, unknown>>): Answer | Promise<Answer> {
    const key = headers['x-api-key'];
    const answer: Answer = { kind: 'caller', caller: { accountId: 'acme', via: 'key' } };
    if (key === 'good') return answer;
    if (key === 'slow') return new Promise((resolve) => setImmediate(resolve, answer));
    if (key === 'stuck') return this.box.wait().then(() => answer);
    if (key === 'down') return Promise.reject(new StorageUnavailableError('no connection'));
    return { kind: 'refused', code: 'error.unauthorized' };
  }
}

@Module({})
class ToyModule {}

/** Our side of an application: toy routes behind the real edge, guard, pipe and filter. */
export function toyModule(options: HttpOptions = {}, clock: Clock = new SystemClock()): DynamicModule {
  const settings = resolveHttpSettings(options);
  const accounts: AccountSettings = {
    signatures: ['INFOS', 'ALERTE', 'SERVICE'],
    legacyBearer: false,
    catalogue: settings.catalogue,
  };
  return {
    module: ToyModule,
    imports: [HostGlobalsModule],
    controllers: [mountController(ToyController, settings.path), mountController(OpenToyController, settings.path)],
    providers: [
      ToyBox,
      MessagingReadiness,
      MessagingEdge,
      { provide: HttpSettings, useValue: settings },
      { provide: AccountSettings, useValue: accounts },
      { provide: Authenticator, useClass: ToyAuthenticator },
      { provide: Admission, useValue: { admit: (answer: Answer) => answer } },
      { provide: Clock, useValue: clock },
    ],
    exports: [ToyBox],
  };
}

/** A host that has imported the toys. */
export function hostModule(toys: DynamicModule, host: ModuleMetadata = {}): DynamicModule {
  @Module({})
  class HostModule {}
  return { module: HostModule, ...host, imports: [toys, ...(host.imports ?? [])] };
}
