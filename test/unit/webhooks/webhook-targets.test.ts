import { describe, expect, test } from '@jest/globals';
import { MessagingError } from '../../../src/common/errors.js';
import { MediaRefusedError } from '../../../src/media/media-fetcher.js';
import type { MediaAllow } from '../../../src/media/media-options.js';
import { WebhookTargets } from '../../../src/webhooks/endpoints/webhook-targets.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';
import { FakeNetwork } from '../../support/media/fake-network.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

const PUBLIC = '93.184.216.34';

function targetsOf(allow: MediaAllow = 'none', network = new FakeNetwork()) {
  return new WebhookTargets(resolveWebhookSettings({ pepper: WEBHOOK_PEPPER, allow }), network);
}

const refused = expect.objectContaining({ code: 'error.webhook_url_refused' });

describe('the URLs that webhooks may call', () => {
  test('are https at a public address, whose name is looked up once', async () => {
    const network = new FakeNetwork().name('shop.example.com', [PUBLIC]);
    const targets = targetsOf('none', network);
    expect((await targets.check('HTTPS://Shop.Example.com:443/a?b#c')).href).toBe('https://shop.example.com/a?b#c');
    expect(network.lookups).toEqual(['shop.example.com']);
    expect(await targets.addressesOf(new URL('https://shop.example.com/'))).toEqual([PUBLIC]);
    expect(targets.isAllowed(new URL('https://shop.example.com/'))).toBe(false);
  });

  test('exclude a name that changes to a private address, from then on', async () => {
    const network = new FakeNetwork().name('shop.example.com', [PUBLIC], ['127.0.0.1']);
    const targets = targetsOf('none', network);
    const url = await targets.check('https://shop.example.com/');
    await expect(targets.addressesOf(url)).rejects.toThrow(MediaRefusedError);
    await expect(targets.check('https://shop.example.com/')).rejects.toEqual(refused);
  });

  test('without https are only those that the host allows', async () => {
    const network = new FakeNetwork().name('shop.example.com', [PUBLIC]).name('inner', ['10.0.0.9']);
    await expect(targetsOf('none', network).check('http://shop.example.com/')).rejects.toEqual(refused);
    await expect(targetsOf('loopback', network).check('http://shop.example.com/')).rejects.toEqual(refused);
    const targets = targetsOf(['http://inner:8080'], network);
    const url = await targets.check('http://inner:8080/hooks');
    expect([await targets.addressesOf(url), targets.isAllowed(url)]).toEqual([['10.0.0.9'], true]);
    await expect(targets.check('http://inner:8081/hooks')).rejects.toEqual(refused);
    await expect(targets.check('http://user@inner:8080/hooks')).rejects.toEqual(refused);
  });

  test('include loopback on any port if the host allows it', async () => {
    const network = new FakeNetwork().name('localhost', ['127.0.0.1']);
    for (const url of ['http://127.0.0.1:4000/', 'http://[::1]:4000/', 'http://localhost:4000/']) {
      const targets = targetsOf('loopback', network);
      expect(targets.isAllowed(await targets.check(url))).toBe(true);
      await expect(targetsOf('none', network).check(url)).rejects.toEqual(refused);
    }
  });

  test('include what a module of the process allows, until it withdraws that', async () => {
    const targets = targetsOf();
    const end = targets.allow((url) => (url.pathname.startsWith('/in/') ? ['127.0.0.1'] : undefined));
    const url = await targets.check('http://127.0.0.1:3000/in/a');
    expect([await targets.addressesOf(url), targets.isAllowed(url)]).toEqual([['127.0.0.1'], true]);
    await expect(targets.check('http://127.0.0.1:3000/out')).rejects.toEqual(refused);
    end();
    await expect(targets.check('http://127.0.0.1:3000/in/a')).rejects.toBeInstanceOf(MessagingError);
  });
});
