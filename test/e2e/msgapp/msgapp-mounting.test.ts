import { afterEach, expect, jest, test } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Logger, Module, type Type } from '@nestjs/common';
import { MediaFetcher } from '../../../src/media/media-fetcher.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { channelToken } from '../../../src/msgapp/channel-token.js';
import { MsgappModule } from '../../../src/msgapp/msgapp.module.js';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import { MsgappTransport } from '../../../src/msgapp/msgapp-transport.js';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { SandboxScanner } from '../../../src/sandbox/sandbox-scanner.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { PNG } from '../../support/common/png.js';
import { settled } from '../../support/common/settled.js';
import { until } from '../../support/common/until.js';
import { describeOnOneAdapter, type RunningApp } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { MSGAPP, MsgappClient } from '../../support/msgapp/msgapp-app.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { PEPPER } from '../../support/otp/otp-app.js';

unmountAfterEach();
afterEach(() => {
  jest.restoreAllMocks();
});

const { sms: _, ...CORE } = OPTIONS;
const SUPPORT = { ...MSGAPP, channel: 'support', tariff: { text: 3, media: 4 } };
const BOTH: MessagingOptions = { ...OPTIONS, otp: { pepper: PEPPER }, msgapp: [MSGAPP, SUPPORT] };
const TO = '22671000001';

/** An account's view of a channel of an application. */
async function channelOf(running: RunningApp, channel = 'msgapp', units = 100): Promise<MsgappClient> {
  return new MsgappClient(await clientOf(running, { units }), running.url, channel);
}

/** Two channels of one account. */
async function pairOf(running: RunningApp): Promise<[MsgappClient, MsgappClient]> {
  const msgapp = await channelOf(running);
  return [msgapp, new MsgappClient(msgapp.api, running.url, 'support')];
}

@Injectable()
class Reminders {
  constructor(
    readonly messages: MsgappService,
    readonly sessions: SessionManager,
  ) {}
}

@Injectable()
class NamedReminders {
  constructor(
    @Inject(channelToken(MsgappService, 'support')) readonly support: MsgappService,
    @Inject(channelToken(MsgappService, 'msgapp')) readonly msgapp: MsgappService,
    @Inject(channelToken(SessionManager, 'support')) readonly sessions: SessionManager,
  ) {}
}

@Controller('reminders')
class RemindersController {
  constructor(private readonly messages: MsgappService) {}

  @Get()
  none(): object {
    return { service: this.messages.constructor.name };
  }
}

class FieldReminders {
  @Inject(SessionManager)
  readonly sessions!: SessionManager;
}

describeOnOneAdapter('messaging-app channels in a host', (adapter) => {
  test('all capabilities have their data purged, once for all channels', async () => {
    const clock = new FakeClock();
    const storage = new MemoryStorage();
    const ports = { storage: { useValue: storage }, clock: { useValue: clock } };
    await mount(adapter, [MessagingModule.forRoot({ ...BOTH, ...ports })]);
    const outbox = storage.store(OutboxStore);
    const policies = storage.store(PolicyStore);
    const media = storage.store(MediaStore);
    const [parts, sessions] = [storage.store(PartStore), storage.store(SessionStore)];
    const purges = [
      jest.spyOn(outbox, 'purgeReplies'),
      jest.spyOn(policies, 'purge'),
      jest.spyOn(parts, 'purge'),
      jest.spyOn(sessions, 'purge'),
      jest.spyOn(media, 'purge'),
    ];
    clock.advance(600_000);
    await until(() => purges.every(({ mock }) => mock.calls.length > 0));
    await settled();
    expect(purges.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1, 1]);
  });

  const sentenceOf = (start: () => Promise<unknown>): Promise<string> =>
    start().then(
      () => 'It started.',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  test('exist side by side, each with its own paths, tariff, sessions and messages', async () => {
    const running = await mount(adapter, [MessagingModule.forRoot(BOTH), SandboxModule.forRoot()]);
    const [msgapp, support] = await pairOf(running);
    await msgapp.link('22670000100');
    expect(await support.status()).toMatchObject({ body: { status: 'disconnected' } });
    expect((await support.text({ to: TO, body: 'x' })).status).toBe(409);
    const sessionID = await support.link('22670000200');
    expect((await msgapp.logout(sessionID)).status).toBe(404);
    expect((await msgapp.status(`?sessionID=${sessionID}`)).status).toBe(404);

    const [one, two] = [await msgapp.text({ to: TO, body: 'un' }), await support.text({ to: TO, body: 'deux' })];
    expect(await msgapp.api.balance()).toBe(96);
    expect(await msgapp.settled(MsgappClient.idOf(one), 'delivered')).toMatchObject({ from: '22670000100', units: 1 });
    expect(await support.settled(MsgappClient.idOf(two), 'delivered')).toMatchObject({ from: '22670000200', units: 3 });
    await expect(support.message(MsgappClient.idOf(one))).rejects.toThrow('Message introuvable');
    const shown = await msgapp.phone(TO);
    expect(shown.map(({ channel, from }) => [channel, from]).sort()).toEqual([
      ['msgapp', '22670000100'],
      ['support', '22670000200'],
    ]);
    // The same key on both channels: two routes, two messages.
    const once = { 'idempotency-key': 'order-1' };
    const answers = [await msgapp.text({ to: TO, body: 'x' }, once), await support.text({ to: TO, body: 'x' }, once)];
    expect(new Set(answers.map(MsgappClient.idOf)).size).toBe(2);
  });

  test('carry one-time passcodes, each under its name', async () => {
    const running = await mount(adapter, [MessagingModule.forRoot(BOTH), SandboxModule.forRoot()]);
    const [msgapp, support] = await pairOf(running);
    await msgapp.link('22670000100');
    const order = { service: 'Boutique', number: TO };
    expect(await msgapp.api.post('send/otp', { ...order, channel: 'support' })).toMatchObject({ status: 409 });
    await support.link('22670000200');
    for (const channel of ['support', 'msgapp']) {
      expect(await msgapp.api.post('send/otp', { ...order, channel })).toMatchObject({
        status: 200,
        body: { channel },
      });
    }
    const shown = await until(
      () => msgapp.phone(TO),
      ({ length }) => length === 2,
    );
    expect(shown.map(({ channel }) => channel).sort()).toEqual(['msgapp', 'support']);
    // A resend has the same code, whatever channel carries it.
    expect(new Set(shown.map(({ text }) => text)).size).toBe(1);
    expect(await msgapp.api.balance()).toBe(96);
  });

  test('have transports of their own', async () => {
    const [first, second] = [new ScriptedTransport(), new ScriptedTransport()];
    const running = await mount(adapter, [
      MessagingModule.forRoot({
        ...BOTH,
        msgapp: [
          { ...MSGAPP, transport: { useValue: first } },
          { ...SUPPORT, transport: { useFactory: async () => second } },
        ],
      }),
    ]);
    expect([first.started, second.started]).toEqual([1, 1]);
    const [msgapp, support] = await pairOf(running);
    await msgapp.connect();
    await support.connect();
    expect([first, second].map(({ links }) => links.map(({ order }) => order.channel))).toEqual([
      ['msgapp'],
      ['support'],
    ]);
    await running.app.close();
    expect([first.stopped, second.stopped]).toEqual([1, 1]);
  });

  test('give a transport what it injects', async () => {
    @Injectable()
    class Injected extends ScriptedTransport {
      constructor(readonly phones: PhoneStore) {
        super();
      }
    }
    const running = await mount(adapter, [
      MessagingModule.forRoot({ ...OPTIONS, msgapp: { ...MSGAPP, transport: Injected } }),
    ]);
    expect(running.app.get(MsgappTransport)).toBeInstanceOf(Injected);
    expect(running.app.get(MsgappTransport)).toHaveProperty('phones', running.app.get(PhoneStore));
  });

  test('get transports from modules, each its own', async () => {
    const moduleOf = (transport: ScriptedTransport): Type => {
      @Module({ providers: [{ provide: MsgappTransport, useValue: transport }], exports: [MsgappTransport] })
      class Carrier {}
      return Carrier;
    };
    const [first, second] = [new ScriptedTransport(), new ScriptedTransport()];
    const running = await mount(adapter, [
      MessagingModule.forRoot({
        ...BOTH,
        msgapp: [
          { ...MSGAPP, transport: { module: moduleOf(first) } },
          { ...SUPPORT, transport: { module: moduleOf(second) } },
        ],
      }),
    ]);
    const [msgapp, support] = await pairOf(running);
    await support.connect();
    expect([first.links.length, second.links.length]).toEqual([0, 1]);
    await msgapp.connect();
    expect([first.links.length, second.links.length]).toEqual([1, 1]);
  });

  test('are injected by their class if there is one channel, and by name always', async () => {
    const host = { providers: [Reminders, FieldReminders], controllers: [RemindersController] };
    const options = { ...OPTIONS, msgapp: { ...MSGAPP, channel: 'chat' } };
    const { app, url } = await mount(adapter, [MessagingModule.forRoot(options)], { host });
    expect(app.get(Reminders).messages).toBe(app.get(MsgappService));
    expect(app.get(Reminders).sessions).toBe(app.get(channelToken(SessionManager, 'chat')));
    expect(app.get(FieldReminders).sessions).toBe(app.get(SessionManager));
    expect(app.get(channelToken(MsgappService, 'chat'))).toBe(app.get(MsgappService));
    expect(await (await fetch(`${url}/reminders`)).json()).toEqual({ service: 'MsgappService' });
  });

  test('are injected by name if there are several', async () => {
    const host = { providers: [NamedReminders] };
    const { app } = await mount(adapter, [MessagingModule.forRoot(BOTH)], { host });
    const { support, msgapp, sessions } = app.get(NamedReminders);
    expect(support).not.toBe(msgapp);
    expect(support).toBe(app.get(channelToken(MsgappService, 'support')));
    const { sessionID } = await sessions.connect('account');
    expect(await app.get<SessionManager>(channelToken(SessionManager, 'msgapp')).list('account')).toEqual([]);
    expect(await sessions.list('account')).toEqual([expect.objectContaining({ id: sessionID, channel: 'support' })]);
  });

  test.each<[string, object]>([
    ['Reminders injects MsgappService', { providers: [Reminders] }],
    ['FieldReminders injects SessionManager', { providers: [FieldReminders] }],
    ['RemindersController injects MsgappService', { controllers: [RemindersController] }],
    [
      'made injects MsgappService',
      { providers: [{ provide: 'made', useFactory: (service: MsgappService) => service, inject: [MsgappService] }] },
    ],
  ])('refuse to start if an injection is ambiguous: %s', async (who, host) => {
    expect(await sentenceOf(() => mount(adapter, [MessagingModule.forRoot(BOTH)], { host }))).toBe(
      `MessagingOptionsError: ${who}, and there are several messaging-app channels: say which with @Inject(channelToken(${who.split(' ').at(-1)}, '…')).`,
    );
  });

  test('work alone, without SMS', async () => {
    const running = await mount(adapter, [MsgappModule.forRoot({ ...CORE, ...MSGAPP }), SandboxModule.forRoot()]);
    const client = await channelOf(running);
    await client.link('22670000100');
    const id = MsgappClient.idOf(await client.text({ to: TO, body: 'x' }));
    await client.settled(id, 'delivered');
    expect((await client.api.send({ signature: 'INFOS', content: 'x', number: [TO] })).status).toBe(404);
    expect(await client.api.balance()).toBe(99);
  });

  test('share a core on which codes use only them', async () => {
    const core = MessagingCore.forRoot(CORE);
    const running = await mount(adapter, [
      OtpModule.forRoot({ core, otp: { pepper: PEPPER } }),
      MsgappModule.forRoot({ core, ...MSGAPP }),
      MsgappModule.forRoot({ core, ...SUPPORT }),
      SandboxModule.forRoot(),
    ]);
    const [msgapp, support] = await pairOf(running);
    await support.link('22670000200');
    const order = { service: 'Boutique', number: TO };
    expect(await msgapp.api.post('send/otp', { ...order, channel: 'support' })).toMatchObject({ status: 200 });
    expect(await msgapp.api.post('send/otp', order)).toMatchObject({
      status: 400,
      body: { message: 'Canal inconnu : sms' },
    });
    const { text } = await support.arrived(TO, 1);
    const otp = /^\d+/.exec(String(text))?.[0];
    expect(await msgapp.api.post('verify/otp', { ...order, otp })).toMatchObject({ status: 200 });
  });

  test.each<[string, () => ReturnType<typeof MessagingModule.forRoot>[]]>([
    [
      'MessagingModule',
      () => [
        MessagingModule.forRootAsync({
          storage: MemoryStorage,
          msgapp: { channel: 'support' },
          inject: [],
          useFactory: async () => ({
            signatures: CORE.signatures,
            sms: OPTIONS.sms,
            msgapp: { tariff: { text: 3, media: 4 }, credentialsKey: MSGAPP.credentialsKey },
          }),
        }),
      ],
    ],
    [
      'MessagingModule, two channels',
      () => [
        MessagingModule.forRootAsync({
          storage: MemoryStorage,
          msgapp: [{}, { channel: 'support' }],
          useFactory: () => ({
            signatures: CORE.signatures,
            sms: OPTIONS.sms,
            msgapp: [MSGAPP, { ...MSGAPP, tariff: { text: 3, media: 4 } }],
          }),
        }),
      ],
    ],
    [
      'MsgappModule',
      () => [
        MsgappModule.forRootAsync({
          storage: MemoryStorage,
          channel: 'support',
          useFactory: () => ({ ...MSGAPP, signatures: CORE.signatures, tariff: { text: 3, media: 4 } }),
        }),
      ],
    ],
    [
      'MsgappModule on a shared core',
      () => {
        const core = MessagingCore.forRoot(CORE);
        const useFactory = async () => ({ ...MSGAPP, tariff: { text: 3, media: 4 } });
        return [MsgappModule.forRootAsync({ core, channel: 'support', useFactory })];
      },
    ],
  ])('get options from a factory: %s', async (_name, modules) => {
    const running = await mount(adapter, [...modules(), SandboxModule.forRoot()]);
    const client = await channelOf(running, 'support');
    await client.link('22670000100');
    MsgappClient.idOf(await client.text({ to: TO, body: 'x' }));
    expect(await client.api.balance()).toBe(97);
  });

  test('have no routes if the host wants none, and still work', async () => {
    const running = await mount(adapter, [MessagingModule.forRoot({ ...OPTIONS, controllers: false, msgapp: MSGAPP })]);
    const { app } = running;
    const { accountId } = await clientOf(running);
    const sessions = app.get(SessionManager);
    const { qrToken } = await sessions.connect(accountId);
    const code = await sessions.currentQr(qrToken, 1_000, new AbortController().signal);
    expect(await app.get(SandboxScanner).scan(code?.qr ?? '', '22670000100')).toBe(true);
    const { messageID } = await app.get(MsgappService).sendText(accountId, { to: TO, body: 'x' });
    await until(
      () => app.get(MsgappService).message(accountId, messageID),
      ({ status }) => status === 'delivered',
    );
    for (const path of ['web/status', `web/qr/${qrToken}`, `web/qr/${qrToken}/image`]) {
      expect((await fetch(`${running.url}/api/v1/msgapp/${path}`)).status).toBe(404);
    }
  });

  test('fetch files with what the host substitutes for the guard', async () => {
    class Shelf extends MediaFetcher {
      override async fetch({ url }: { url: string }) {
        if (!url.startsWith('shelf:')) throw new TypeError('There is no such shelf.');
        const body = (async function* () {
          yield PNG;
        })();
        return { contentType: 'text/plain', fileName: 'colis.png', body };
      }
    }
    const running = await mount(adapter, [
      MessagingModule.forRoot({ ...OPTIONS, msgapp: MSGAPP, mediaFetcher: Shelf }),
      SandboxModule.forRoot(),
    ]);
    const client = await channelOf(running);
    await client.link('22670000100');
    const id = MsgappClient.idOf(await client.media({ to: TO, mediaUrl: 'shelf:12' }));
    expect(await client.settled(id, 'delivered')).toMatchObject({
      media: { type: 'image', mimetype: 'image/png', size: PNG.length, fileName: 'colis.png' },
    });
    expect(await client.media({ to: TO, mediaUrl: 'http://127.0.0.1/' })).toMatchObject({
      status: 400,
      body: { message: "Le média n'a pas pu être récupéré" },
    });
  });

  test('read bodies themselves if the host parses none', async () => {
    const modules = [MessagingModule.forRoot({ ...OPTIONS, msgapp: MSGAPP }), SandboxModule.forRoot()];
    const running = await mount(adapter, modules, { options: { bodyParser: false } });
    const client = await channelOf(running);
    await client.link('22670000100');
    MsgappClient.idOf(await client.text({ to: TO, body: 'x' }));
  });

  test('link numbers in a process that delivers nothing, and release them when it ends', async () => {
    const transport = new ScriptedTransport();
    const running = await mount(adapter, [
      MessagingModule.forRoot({
        ...OPTIONS,
        role: 'api',
        msgapp: { ...MSGAPP, transport: { useValue: transport } },
      }),
    ]);
    expect(transport.started).toBe(0);
    await (await channelOf(running)).connect();
    expect(transport.started).toBe(1);
    await running.app.close();
    expect([transport.last().closed, transport.stopped]).toEqual([1, 1]);
  });

  test('warn of a port that the host provides beside the options', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    @Module({
      providers: [
        { provide: MsgappTransport, useValue: new ScriptedTransport() },
        { provide: MediaFetcher, useValue: {} },
      ],
    })
    class Misplaced {}
    await mount(adapter, [MessagingModule.forRoot({ ...OPTIONS, msgapp: MSGAPP }), Misplaced]);
    for (const port of ['MsgappTransport', 'MediaFetcher']) {
      expect(warn).toHaveBeenCalledWith(
        `Misplaced provides ${port}, which the messaging module does not see: give it in the options of forRoot.`,
      );
    }
  });

  const KEY = 'Make one with "openssl rand -base64 48"';
  test.each<[string, object, string]>([
    ['no key', { credentialsKey: undefined }, 'Option msgapp.credentialsKey is missing'],
    ['no key in the list', { credentialsKey: [] }, 'Option msgapp.credentialsKey is missing'],
    ['a short key', { credentialsKey: 'too short' }, KEY],
    ['a simple key', { credentialsKey: 'a'.repeat(48) }, KEY],
    ['a malformed key', { credentialsKey: 5 }, 'Option msgapp.credentialsKey'],
    ['no tariff', { tariff: undefined }, 'Option msgapp.tariff is missing: { text, media }.'],
    ['half a tariff', { tariff: { text: 1 } }, 'Option msgapp.tariff.media must be an integer from 0 to 1000000'],
    ['a wrong tariff', { tariff: { text: 0.5, media: 1 } }, 'Option msgapp.tariff.text must be an integer'],
    ['a misspelled tariff', { tariff: { texts: 1, media: 1 } }, 'Option msgapp.tariff.texts is not known'],
    [
      'a misspelled option',
      { chanel: 'x' },
      'Option msgapp.chanel is not known; the known options are channel, transport, tariff',
    ],
    ['no pace', { pacing: { perMinute: 0 } }, 'Option msgapp.pacing.perMinute must be a number above 0'],
    ['a lease of nothing', { sessions: { leaseMs: 1 } }, 'Option msgapp.sessions.leaseMs must be an integer from 1000'],
    [
      'strictness in words',
      { strictNumbers: 'yes' },
      'Option msgapp.strictNumbers must be true, false or "home"; got "yes".',
    ],
    ['no transport', { transport: 5 }, 'Option msgapp.transport must be a class'],
    ...['sms', 'send', 'balance', 'Msgapp', '', '1x', 'a/b', 'a b', 'é', 'x'.repeat(33), 5].map(
      (channel): [string, object, string] => [
        `a channel named ${channel}`,
        { channel },
        `Option msgapp.channel must be 1 to 32 of a-z, 0-9 and "-", a letter first, and none of sms, otp, send, verify, balance, docs, sandbox; got ${JSON.stringify(channel)}.`,
      ],
    ),
  ])('refuse to start with %s', async (_name, wrong, sentence) => {
    const options: MessagingOptions = { ...OPTIONS, msgapp: { ...MSGAPP, ...wrong } };
    const said = await sentenceOf(async () => mount(adapter, [MessagingModule.forRoot(options)]));
    expect(said).toContain('MessagingOptionsError: ');
    expect(said).toContain(sentence);
    expect(said).not.toContain('too short');
  });

  test('refuse to start if the second of two is wrong, named twice, or has unknown options', async () => {
    const start = (msgapp: unknown) =>
      sentenceOf(async () => mount(adapter, [MessagingModule.forRoot({ ...OPTIONS, msgapp } as never)]));
    expect(await start([MSGAPP, { ...SUPPORT, x: 1 }])).toContain('Option msgapp[1].x is not known');
    expect(await start([MSGAPP, 5])).toContain('Option msgapp[1] must be an object.');
    expect(await start([MSGAPP, MSGAPP])).toContain('There are two channels named "msgapp"');
    const said = await sentenceOf(async () =>
      mount(adapter, [
        MessagingModule.forRootAsync({
          storage: MemoryStorage,
          msgapp: [{}, { channel: 'support' }],
          useFactory: () => ({ signatures: CORE.signatures, sms: OPTIONS.sms, msgapp: MSGAPP }),
        }),
      ]),
    );
    expect(said).toContain('there are 2 and 1.');
    const late = await sentenceOf(async () =>
      mount(adapter, [
        MsgappModule.forRootAsync({
          storage: MemoryStorage,
          useFactory: () => ({ ...MSGAPP, channel: 'late', signatures: CORE.signatures }),
        }),
      ]),
    );
    expect(late).toContain('Option channel shapes the module graph: write it beside useFactory');
  });

  test('fetch only what the host’s options allow', async () => {
    for (const [allow, sentence] of [
      ['everything', 'Option media.allow must be "none", "loopback" or a list of origins.'],
      [['example.com'], 'Option media.allow[0] must be an origin'],
      [['https://example.com/files'], 'Option media.allow[0] must be an origin'],
    ]) {
      const options = { ...OPTIONS, msgapp: MSGAPP, media: { allow } } as never;
      expect(await sentenceOf(async () => mount(adapter, [MessagingModule.forRoot(options)]))).toContain(sentence);
    }
    const wrong = { ...OPTIONS, mediaFetcher: 5 } as never;
    expect(await sentenceOf(async () => mount(adapter, [MessagingModule.forRoot(wrong)]))).toContain(
      'Option mediaFetcher must be a class',
    );
  });
});
