import { expect, test } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Caller } from '../../../src/accounts/caller.decorator.js';
import { ApiKeyGuard } from '../../../src/accounts/keys/api-key.guard.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { callerGuard } from '../../../src/testing/caller-guard.js';
import { describeOnBothAdapters, startApp } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

@Controller('mine')
@UseGuards(ApiKeyGuard)
class MineController {
  @Get()
  mine(@Caller() caller: Caller): Caller {
    return caller;
  }
}

describeOnBothAdapters('callerGuard in place of ApiKeyGuard', (adapter) => {
  const start = async (guard: ReturnType<typeof callerGuard>) => {
    const builder = Test.createTestingModule({
      imports: [MessagingModule.forRoot(OPTIONS)],
      controllers: [MineController],
    });
    const compiled = await builder.overrideGuard(ApiKeyGuard).useValue(guard).compile();
    return alsoUnmount(await startApp(compiled, adapter));
  };

  test('identifies the caller without a key', async () => {
    const { url } = await start(callerGuard({ accountId: 'acme' }));
    expect(await call(`${url}/mine`)).toMatchObject({ status: 200, body: { accountId: 'acme', via: 'key' } });
  });

  test('says how the caller was authenticated', async () => {
    const { url } = await start(callerGuard({ accountId: 'acme', via: 'user-token' }));
    expect(await call(`${url}/mine`)).toMatchObject({ body: { accountId: 'acme', via: 'user-token' } });
  });

  test('admits nobody to our own routes', async () => {
    const { url } = await start(callerGuard({ accountId: 'acme' }));
    expect(await call(`${url}/api/v1/balance`)).toMatchObject({ status: 401 });
  });
});
