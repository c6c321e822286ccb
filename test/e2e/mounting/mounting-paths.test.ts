import { expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { resolveHttpSettings } from '../../../src/http/http-options.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { resolveChannelName } from '../../../src/msgapp/msgapp-options.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

/** Unusual paths that a client can still call as they are written. */
const REACHED = ['API/v1', '...', 'a..b', '.well-known/x', '~', '-', '__proto__', 'constructor'].map((path) => [
  path,
  path,
]);
const LONG_PATH = ['of 1000 characters', 'x'.repeat(1000)];

const UNREACHED: [string, string[]][] = [
  ['a client takes them out of the URL', ['.', '..', '../x', '/../x/', 'x/..', 'a/../b', 'a/./b']],
  ['a client takes them out in any spelling', ['%2e', '%2E%2e/x', '.%2e', 'a/%2e./b']],
  ['a client ends the path there, or turns it', ['a?b', 'a#b', 'a\\b', 'a\nb', 'a\n']],
  ['a router reads a pattern into them', [':id', 'a/:id', '*', '*x', 'a*', '{a}', '{/a}', '(a)', 'a+b', 'a[b]', 'a!']],
  ['one router compares what is decoded, the other what came', ['a b', 'a%20b', 'é', '%C3%A9', 'a%2fb', '"']],
  ['there is nothing between two slashes', ['', '/', '//', 'a//b', '//a', 'a//']],
  ['no request line is as long', ['x'.repeat(1001), 'x'.repeat(20_000)]],
];

describeOnBothAdapters('a path that is accepted', (adapter) => {
  test.each([...REACHED, LONG_PATH])('is where clients find the routes: %s', async (_, path = '') => {
    const running = await mount(adapter, [
      MessagingModule.forRoot({ ...OPTIONS, path }),
      SandboxModule.forRoot({ path }),
    ]);
    const client = await clientOf(running, { path });
    expect(await client.balance()).toBe(10);
    const quote = { signature: 'INFOS', content: 'x', number: ['22670000000'] };
    expect(await client.post('sms/quote', quote)).toMatchObject({ status: 200 });
    expect((await fetch(`${running.url}/${path}`)).status).toBe(200);
    expect((await fetch(`${running.url}/${path}/phones`)).status).toBe(200);
  });
});

test.each(UNREACHED)('a path that clients cannot reach is refused: %s', (_, paths) => {
  for (const path of paths) {
    expect(() => resolveHttpSettings({ path })).toThrow(MessagingOptionsError);
    expect(() => resolveHttpSettings({ path })).toThrow(/^Option path must be .*, such as "api\/v1"; got .{1,60}\.$/);
    expect(() => SandboxModule.forRoot({ path })).toThrow(MessagingOptionsError);
    expect(() => SandboxModule.forRoot({ path })).toThrow(
      /^SandboxModule: option path must be .*, such as "sandbox"; got .{1,60}\.$/,
    );
    expect(() => resolveChannelName(path)).toThrow(/^Option msgapp\.channel must be /);
  }
});
