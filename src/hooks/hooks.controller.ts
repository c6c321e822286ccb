import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Author } from '../accounts/audit/author.decorator.js';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { MessagingError } from '../common/errors.js';
import { Change } from '../http/change.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { RequestUrl } from '../http/parameters.js';
import { MessagingBody } from '../http/validation.js';
import { CreateLoginHookBody, RotateLoginHookBody, TestLoginHookBody } from './hooks.dto.js';
import type { LoginHookCallList, LoginHookList, LoginHookRemoved, LoginHookView } from './login-hook.api.js';
import { LoginHookService } from './login-hook-service.js';

/** The routes by which an account manages its log-in hooks (docs/login.md). */
@MessagingController()
export class HooksController {
  constructor(private readonly hooks: LoginHookService) {}

  @Post('hooks')
  @Needs('hooks.send')
  @HttpCode(200)
  create(
    @Caller() caller: Caller,
    @MessagingBody() body: CreateLoginHookBody,
    @RequestUrl() url: string,
    @Change() change: Change,
  ): Promise<object> {
    checkUncapped(caller);
    return change.answer((call) => this.hooks.create(caller.accountId, body, { ...call, base: baseOf(url) }));
  }

  @Get('hooks')
  @Needs('hooks.read')
  list(@Caller() { accountId }: Caller, @RequestUrl() url: string): Promise<LoginHookList> {
    return this.hooks.list(accountId, { base: baseOf(url) });
  }

  @Get('hooks/:id')
  @Needs('hooks.read')
  get(@Caller() { accountId }: Caller, @Param('id') id: string, @RequestUrl() url: string): Promise<LoginHookView> {
    return this.hooks.get(accountId, id, { base: baseOf(url) });
  }

  @Delete('hooks/:id')
  @Needs('hooks.write')
  remove(@Caller() { accountId }: Caller, @Param('id') id: string, @Author() by: Author): Promise<LoginHookRemoved> {
    return this.hooks.remove(accountId, id, { by });
  }

  @Post('hooks/:id/rotate')
  @Needs('hooks.write')
  @HttpCode(200)
  rotate(
    @Caller() caller: Caller,
    @Param('id') id: string,
    @MessagingBody() body: RotateLoginHookBody,
    @RequestUrl() url: string,
    @Change() change: Change,
  ): Promise<object> {
    checkUncapped(caller);
    return change.answer((call) => this.hooks.rotate(caller.accountId, id, body, { ...call, base: baseOf(url) }));
  }

  @Post('hooks/:id/enable')
  @Needs('hooks.write')
  @HttpCode(200)
  enable(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @RequestUrl() url: string,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.hooks.enable(accountId, id, { ...call, base: baseOf(url) }));
  }

  @Post('hooks/:id/disable')
  @Needs('hooks.write')
  @HttpCode(200)
  disable(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @RequestUrl() url: string,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.hooks.disable(accountId, id, { ...call, base: baseOf(url) }));
  }

  @Post('hooks/:id/test')
  @Needs('hooks.send')
  @HttpCode(200)
  test(
    @Caller() caller: Caller,
    @Param('id') id: string,
    @MessagingBody() body: TestLoginHookBody,
    @Change() change: Change,
  ): Promise<object> {
    checkUncapped(caller);
    return change.answer((call) => this.hooks.test(caller.accountId, id, body, call));
  }

  @Get('hooks/:id/calls')
  @Needs('hooks.read')
  calls(@Caller() { accountId }: Caller, @Param('id') id: string): Promise<LoginHookCallList> {
    return this.hooks.lastCalls(accountId, id);
  }
}

/**
 * The sends of a hook do not count towards the daily cap of a key. So a key with a cap may not get a secret of a hook, nor send
 * through one.
 * @throws MessagingError `error.login_hook_key_capped`
 */
function checkUncapped({ key }: Caller): void {
  if (key?.dailyUnits !== undefined) throw new MessagingError('error.login_hook_key_capped');
}

/** The URL of our routes, from the URL of a request to one of the routes above. */
function baseOf(url: string): string {
  return url.replace(/\/hooks(?:\/[^/]+(?:\/[a-z]+)?)?\/?$/i, '');
}
