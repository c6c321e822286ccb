import { expect, test } from '@jest/globals';
import { Injectable, type LoggerService } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ManagementModule } from '../../../src/management/management.module.js';
import {
  type AuthenticatedUser,
  type SignInRequest,
  UserAuthenticator,
} from '../../../src/management/user-sessions/user-authenticator.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { describeOnBothAdapters, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { Browser, MANAGEMENT_SECRET, startManagement } from '../../support/management/management-app.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

/** The host's users: whom the credentials identify. */
class Desk {
  readonly asked: { readonly credentials: unknown; readonly request: SignInRequest }[] = [];
  user: unknown;
  fault: Error | undefined;
}

@Injectable()
class DeskUsers extends UserAuthenticator {
  static desk = new Desk();
  override readonly operators: boolean = false;
  override async authenticate(credentials: unknown, request: SignInRequest): Promise<AuthenticatedUser | undefined> {
    DeskUsers.desk.asked.push({ credentials, request });
    if (DeskUsers.desk.fault) throw DeskUsers.desk.fault;
    return DeskUsers.desk.user as AuthenticatedUser | undefined;
  }
}

@Injectable()
class Operators extends DeskUsers {
  override readonly operators = true;
}

class Lines implements LoggerService {
  readonly lines: string[] = [];
  readonly log = (): void => {};
  readonly warn = (...given: unknown[]): void => void this.lines.push(given.join(' '));
  readonly error = (...given: unknown[]): void => void this.lines.push(given.join(' '));
}

describeOnOneAdapter("the host's own users", (adapter) => {
  const REFUSED = { status: 401, body: { message: 'Lien invalide, expiré ou déjà utilisé' } };

  async function start(users = DeskUsers, logger = new Lines()) {
    DeskUsers.desk = new Desk();
    const management = { secret: MANAGEMENT_SECRET, users };
    const service = await startManagement(adapter, { management, setup: { options: { logger } } });
    return { ...service, desk: DeskUsers.desk, logger };
  }

  test('sign in with the credentials that the host accepts', async () => {
    const { browser, desk, accountId, as } = await start();
    desk.user = { subject: 'awa', account: accountId, role: 'viewer' };
    const page = browser();
    const credentials = { ticket: ['4711', { deep: null }] };
    const reply = await page.post('session/exchange', { credentials }, { 'x-ticket': '1' });
    expect(reply).toMatchObject({ status: 200, body: { user: desk.user } });
    expect(desk.asked).toMatchObject([
      { credentials, request: { address: expect.stringContaining('127.0.0.1'), headers: { 'x-ticket': '1' } } },
    ]);
    expect((await as((reply.body as { access_token: string }).access_token, 'balance')).status).toBe(200);
    expect((await page.post('session/refresh')).body).toMatchObject({ user: desk.user });
  });

  test('get a 401 with one text if the host refuses them or names them wrongly', async () => {
    const { browser, desk, accountId, logger } = await start();
    const subject = 'awa';
    for (const user of [
      undefined,
      null,
      { subject, role: 'admin' },
      { subject, account: 'nobody', role: 'admin' },
      { subject, account: accountId, role: 'root' },
      { subject, account: accountId },
      { subject: '', role: 'admin' },
      { subject, role: 'operator' },
      { account: accountId, role: 'admin' },
      { subject, account: 'a\0', role: 'admin' },
    ]) {
      desk.user = user;
      expect(await browser().post('session/exchange', { credentials: 'secret-word' })).toMatchObject(REFUSED);
    }
    // One line of each kind. Repeats within a minute are counted.
    expect(logger.lines.filter((line) => line.includes('named a user who is refused')).length).toBe(4);
    expect(logger.lines.join('\n')).not.toContain('secret-word');
  });

  test('get a role of the operator only from an authenticator that says so', async () => {
    const { browser, desk, accountId } = await start(Operators);
    desk.user = { subject: 'awa', role: 'finance' };
    const reply = await browser().post('session/exchange', { credentials: 0 });
    expect(reply).toMatchObject({ status: 200, body: { user: { subject: 'awa', account: null, role: 'finance' } } });
    desk.user = { subject: 'awa', account: accountId, role: 'finance' };
    expect(await browser().post('session/exchange', { credentials: false })).toMatchObject(REFUSED);
  });

  test('may send only small requests', async () => {
    const { browser, desk } = await start();
    expect((await browser().post('session/exchange', { credentials: 'x'.repeat(65_000) })).status).toBe(401);
    expect((await browser().post('session/exchange', { credentials: 'x'.repeat(66_000) })).status).toBe(413);
    expect(desk.asked).toHaveLength(1);
  });

  test('get a 500 for a fault of the host, which is logged', async () => {
    const { browser, desk, logger } = await start();
    desk.fault = new Error('The directory is away.');
    const reply = await browser().post('session/exchange', { credentials: 'x' });
    expect(reply.status).toBe(500);
    expect(JSON.stringify(reply.body)).not.toContain('directory');
    expect(logger.lines.join('\n')).toContain('The directory is away.');
  });

  test('cannot sign in with credentials if there is no authenticator', async () => {
    const { browser } = await startManagement(adapter);
    expect(await browser().post('session/exchange', { credentials: 'x' })).toMatchObject(REFUSED);
  });

  test('can be configured for the module on a core, and beside a factory', async () => {
    const users = { useFactory: () => new Operators() };
    const core = MessagingCore.forRoot({ storage: MemoryStorage, signatures: OPTIONS.signatures });
    const management = { secret: MANAGEMENT_SECRET };
    const hosts = [
      [core, ManagementModule.forRoot({ core, users, management })],
      [core, ManagementModule.forRootAsync({ core, users, useFactory: () => ({ management }) })],
      [
        MessagingModule.forRootAsync({
          storage: MemoryStorage,
          sms: {},
          management: { users },
          useFactory: () => ({ signatures: OPTIONS.signatures, sms: OPTIONS.sms, management }),
        }),
      ],
    ];
    DeskUsers.desk = new Desk();
    DeskUsers.desk.user = { subject: 'awa', role: 'support' };
    for (const imports of hosts) {
      const running = await mount(adapter, imports);
      const { url } = await clientOf(running);
      expect((await new Browser(url).post('session/exchange', { credentials: 'x' })).status).toBe(200);
      await running.close();
    }
  });

  test('an authenticator that is not one is refused at the start', () => {
    const users = { useValue: { verify: () => undefined } } as never;
    const management = { secret: MANAGEMENT_SECRET, users };
    expect(() => MessagingModule.forRoot({ ...OPTIONS, management })).toThrow(
      'Option management.users must give a UserAuthenticator; it has no method authenticate.',
    );
  });
});

describeOnBothAdapters('session cookies', (adapter) => {
  test('are secure, unless the page is on this machine without TLS', async () => {
    const { link, browser } = await startManagement(adapter);
    const isSecure = async (origin: string) => {
      const page = browser();
      await page.post('session/exchange', { token: await link() }, { origin });
      return page.given.join().includes('; Secure;');
    };
    for (const origin of ['https://desk.example.com', 'http://desk.example.com', 'https://localhost', 'null', '']) {
      expect([origin, await isSecure(origin)]).toEqual([origin, true]);
    }
    for (const name of ['localhost.evil.example.com', '127.0.0.1.evil.example.com', 'evil.example.com#localhost']) {
      expect([name, await isSecure(`http://${name}`)]).toEqual([name, true]);
    }
    for (const name of ['localhost:3000', '127.0.0.1:8080', '[::1]:80', 'a.localhost']) {
      expect([name, await isSecure(`http://${name}`)]).toEqual([name, false]);
    }
  });

  test('work beside others, and those of the host stay', async () => {
    const { link, browser } = await startManagement(adapter, {
      setup: {
        configure: (app) => {
          const adds = (_: unknown, reply: { header(name: string, value: string): void }, next: () => void) => {
            reply.header('Set-Cookie', 'host=1');
            next();
          };
          if (adapter === 'express') app.use(adds);
          else app.getHttpAdapter().getInstance().addHook('onRequest', adds);
        },
      },
    });
    const page = browser();
    await page.signIn({ token: await link() });
    expect(page.given).toEqual(['host=1', expect.stringContaining('messaging_session_')]);
    const { cookie } = page;
    const others = `a=b; c; =; ;; ${'x'.repeat(3000)}=1; messaging_session=z;`;
    expect((await browser().post('session/refresh', {}, { cookie: `${others}${cookie}; last=%` })).status).toBe(200);
  });

  test('of 64 kB are refused and harm nothing', async () => {
    const platform = adapter === 'fastify' ? new FastifyAdapter({ http: { maxHeaderSize: 131_072 } }) : undefined;
    const { browser, link } = await startManagement(adapter, { setup: { ...(platform && { platform }) } });
    const page = browser();
    await page.signIn({ token: await link() });
    const cookie = `x=${'y'.repeat(65_536)}; ${page.cookie}`;
    // Node's own limit is 16 kB, unless the host raises it.
    expect((await browser().post('session/refresh', {}, { cookie })).status).toBe(platform ? 401 : 431);
    expect((await page.post('session/refresh')).status).toBe(200);
  });
});
