import { expect, test } from '@jest/globals';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { IdGenerator } from '../../../src/common/ids.js';
import type { PortSource } from '../../../src/core/port-provider.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { MsgappModule } from '../../../src/msgapp/msgapp.module.js';
import { MsgappTransport } from '../../../src/msgapp/msgapp-transport.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { SmsTransport } from '../../../src/sms/sms-transport.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { mount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

unmountAfterEach();

/** Like a host's configuration: not global, so only a module that imports it can inject it. */
@Injectable()
class ConfigService {
  readonly carrier = 'acme';
}

@Module({})
class ConfigModule {
  static forRoot(): DynamicModule {
    return { module: ConfigModule, providers: [ConfigService], exports: [ConfigService] };
  }
}

class NamedTransport extends RecordingTransport {
  constructor(override readonly name: string) {
    super();
  }
}

const { sms: SMS, storage: _, ...VALUES } = OPTIONS;
const otp = { pepper: PEPPER };
const imports = [ConfigModule.forRoot()];
const storage: PortSource<MemoryStorage> = {
  inject: [ConfigService],
  useFactory: (_config: ConfigService) => new MemoryStorage(),
};
const sms: { readonly transport: PortSource<SmsTransport> } = {
  transport: {
    inject: [ConfigService, IdGenerator],
    useFactory: ({ carrier }: ConfigService, _ids: IdGenerator) => new NamedTransport(carrier),
  },
};
const msgapp: { readonly transport: PortSource<MsgappTransport> } = {
  transport: {
    inject: [ConfigService],
    useFactory: ({ carrier }: ConfigService) => Object.assign(new ScriptedTransport(), { name: carrier }),
  },
};

describeOnBothAdapters('the imports of forRootAsync are available to the factories of every port', (adapter) => {
  /** The names of the transports in an application with this module. */
  const namesIn = async (module: DynamicModule, ...transports: (typeof SmsTransport | typeof MsgappTransport)[]) => {
    const { app } = await mount(adapter, [module]);
    return transports.map((each) => app.get<{ readonly name: string }>(each, { strict: false }).name);
  };

  test('of MessagingModule', async () => {
    const useFactory = () => ({ ...VALUES, sms: SMS, otp, msgapp: MSGAPP });
    const module = MessagingModule.forRootAsync({ imports, storage, sms, msgapp, otp: true, useFactory });
    expect(await namesIn(module, SmsTransport, MsgappTransport)).toEqual(['acme', 'acme']);
  });

  test('of SmsModule', async () => {
    const module = SmsModule.forRootAsync({ imports, storage, ...sms, useFactory: () => ({ ...VALUES, ...SMS }) });
    expect(await namesIn(module, SmsTransport)).toEqual(['acme']);
  });

  test('of OtpModule with sms beside it', async () => {
    const useFactory = () => ({ ...VALUES, sms: SMS, otp });
    const module = OtpModule.forRootAsync({ imports, storage, sms, useFactory });
    expect(await namesIn(module, SmsTransport)).toEqual(['acme']);
  });

  test('of MsgappModule', async () => {
    const useFactory = () => ({ ...VALUES, ...MSGAPP });
    const module = MsgappModule.forRootAsync({ imports, storage, ...msgapp, useFactory });
    expect(await namesIn(module, MsgappTransport)).toEqual(['acme']);
  });

  test('of SmsModule on a core that has its own', async () => {
    const core = MessagingCore.forRootAsync({ imports, storage, useFactory: () => VALUES });
    const module = SmsModule.forRootAsync({ core, imports, ...sms, useFactory: () => SMS });
    expect(await namesIn(module, SmsTransport)).toEqual(['acme']);
  });

  test('and to nobody else: the module stays as local as the host made it', async () => {
    class Elsewhere {
      constructor(readonly config: ConfigService) {}
    }
    const host = {
      providers: [
        { provide: Elsewhere, useFactory: (config: ConfigService) => new Elsewhere(config), inject: [ConfigService] },
      ],
    };
    const useFactory = () => ({ ...VALUES, sms: SMS });
    const module = MessagingModule.forRootAsync({ imports, storage, sms, useFactory });
    await expect(mount(adapter, [module], { host })).rejects.toThrow(/ConfigService/);
  });
});
