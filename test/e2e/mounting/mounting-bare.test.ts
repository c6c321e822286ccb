import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { MsgappModule } from '../../../src/msgapp/msgapp.module.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';

/** What a host writes around the module. */
@Injectable()
class Shop {
  constructor(readonly sms: SmsService) {}
}

async function startOf(imports: object[], providers: Type<object>[]): Promise<unknown> {
  class AppModule {}
  const module = { module: AppModule, imports: imports as Type<object>[], providers };
  try {
    await (await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false })).close();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each([MessagingModule, MessagingCore, SmsModule, OtpModule, MsgappModule, SandboxModule])(
  '%p without forRoot',
  (bare) => {
    const sentence = new MessagingOptionsError(
      `${bare.name} is imported without forRoot: write ${bare.name}.forRoot({ … }) in imports.`,
    );

    test('stops the start with a sentence', async () => {
      expect(await startOf([bare], [])).toEqual(sentence);
    });

    test('the sentence takes precedence over that of a missing service', async () => {
      expect(await startOf([bare], [Shop])).toEqual(sentence);
    });

    test('stops the start even beside a complete module', async () => {
      expect(await startOf([MessagingModule.forRoot(OPTIONS), bare], [Shop])).toEqual(sentence);
    });
  },
);

test('complete modules start', async () => {
  expect(await startOf([MessagingModule.forRoot(OPTIONS), SandboxModule.forRoot()], [Shop])).toBeUndefined();
});
