import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { httpAdapter, limitWaiting } from '../../../sample-app/src/config/http-adapter.js';
import { describeOnBothAdapters, startApp } from '../../support/http/http-apps.js';
import { RawConnection } from '../../support/http/http-client.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

const SOURCE = join(ROOT, 'sample-app/src');

describeOnBothAdapters('the server of the sample app', (adapter) => {
  test('cuts a connection that sends no headers, or sends them too slowly', async () => {
    const running = await startApp(class Host {}, adapter, {
      platform: httpAdapter(adapter),
      configure: (app) =>
        limitWaiting(app.getHttpServer(), {
          headersTimeout: 50,
          requestTimeout: 60_000,
          keepAliveTimeout: 100,
          connectionsCheckingInterval: 20,
        }),
    });
    try {
      const silent = await RawConnection.open(running.port);
      const slow = await RawConnection.open(running.port);
      slow.write('GET / HTTP/1.1\r\nHost: x\r\n');
      for (const connection of [silent, slow]) {
        await connection.until(({ closed }) => closed);
        expect(connection.received).toMatch(/^HTTP\/1\.1 408 /);
      }
    } finally {
      await running.close();
    }
  });
});

describe('the code of the sample app', () => {
  const entries = readdirSync(SOURCE, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const texts = new Map(files.map((name) => [name, readFileSync(join(SOURCE, name), 'utf8')]));
  const text = (name: string) => texts.get(name) ?? '';

  test('is a handful of files, together under 110 lines', () => {
    expect(files.sort()).toEqual(['app.module.ts', 'main.ts', 'prefixed-ids.ts', 'welcome.controller.ts']);
    const lines = [...texts.values()].map((each) => each.trimEnd().split('\n').length);
    expect(lines.reduce((sum, each) => sum + each)).toBeLessThan(110);
  });

  test('mounts the module, injects the SMS service into a route and overrides a provider', () => {
    expect(text('main.ts')).toContain('NestFactory.create(AppModule');
    expect(text('main.ts')).toContain('limitWaiting(app.getHttpServer());');
    expect(text('app.module.ts')).toContain('MessagingModule.forRoot({');
    expect(text('app.module.ts')).toContain('ids: PrefixedIds');
    expect(text('welcome.controller.ts')).toContain('private readonly sms: SmsService');
    expect(text('prefixed-ids.ts')).toContain('class PrefixedIds extends UuidGenerator');
  });

  test('has its configuration, the demo, a second route and the operator command in folders beside it', () => {
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.sort()).toEqual(['config', 'demo', 'login', 'operator']);
  });
});
