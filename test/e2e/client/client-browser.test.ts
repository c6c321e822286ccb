import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import { hasBrowser, openPage, startBrowser } from '../../support/dashboard/page-browser.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

/** A token that looks like a JWT, for the account that it names. */
const tokenOf = (accountId: string) =>
  [{ alg: 'HS256' }, { accountId }, 'signature']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');

class NamedAccount extends UserTokenVerifier {
  async verify(token: string): Promise<{ accountId: string }> {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  }
}

const suite = hasBrowser() ? describe : describe.skip;

suite('the client in a browser', () => {
  let browser: Browser;
  let app: MessagingApp;
  let site: Server;
  let page: Page;
  let problems: readonly string[];

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      'express',
      { msgapp: MSGAPP, userTokens: NamedAccount },
      // Another origin than that of the page, so the browser sends a preflight request.
      {
        configure: (nest) => nest.enableCors({ origin: true, exposedHeaders: ['X-Error-Code', 'Retry-After'] }),
      },
    );
    const client = readFileSync(join(ROOT, 'dist/client/index.js'), 'utf8');
    site = createServer(({ url }, response) => {
      if (url === '/client.js') response.setHeader('content-type', 'text/javascript').end(client);
      else response.setHeader('content-type', 'text/html').end('<!doctype html><link rel="icon" href="data:,">');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    ({ page, problems } = await openPage(browser, `http://127.0.0.1:${port}/`, {}));
  });

  afterAll(async () => {
    await browser?.close();
    site?.close();
    await app?.close();
  });

  /** Runs a program on the page, with a client that has a token. */
  const run = <T>(program: string): Promise<T> =>
    page.evaluate<T>(`(async () => {
      const { MessagingClient, verifyWebhook } = await import('/client.js');
      const baseUrl = ${JSON.stringify(`${app.url}/api/v1`)};
      const token = async () => ${JSON.stringify(tokenOf(app.accountId))};
      const client = new MessagingClient({ baseUrl, token });
      ${program}
    })()`);

  test('refuses an apiKey, on the page and in a worker', async () => {
    expect(
      await run(`try { new MessagingClient({ baseUrl, apiKey: 'msgk_x' }) } catch (error) { return String(error) }`),
    ).toMatch(/^TypeError: An apiKey in a browser/);
    const inWorker = `
      const source = "import { MessagingClient } from '" + location.origin + "/client.js';" +
        "try { new MessagingClient({ baseUrl: 'http://a', apiKey: 'k' }); postMessage('taken') }" +
        "catch (error) { postMessage(String(error)) }";
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });
      return new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data) });`;
    expect(await run(inWorker)).toMatch(/^TypeError: An apiKey in a browser/);
  });

  test('sends with a token, lists messages, and distinguishes errors by their codes', async () => {
    const result = await run(`
      const order = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
      const { smsID } = await client.sms.send(order);
      const ids = [];
      for await (const sms of client.sms.list()) ids.push(sms.smsID);
      const code = await client.sms.send({ ...order, signature: 'Nobody' }).catch((error) => error.code);
      return [ids.length === 1 && ids[0] === smsID, code, (await client.balance()).balance];`);
    expect(result).toEqual([true, 'signature_refused', 999]);
  });

  test('shows a code to scan and leaves the stream', async () => {
    const result = await run(`
      const { qrToken } = await client.msgapp().connect();
      const seen = [];
      for await (const news of new MessagingClient({ baseUrl }).msgapp().watchCode(qrToken)) {
        seen.push(news.type);
        if (news.type === 'qr') return [seen, news.image.slice(0, 22)];
      }`);
    expect(result).toEqual([['status', 'qr'], 'data:image/png;base64,']);
  });

  test('verifies a signature', async () => {
    const result = await run(`
      const bytes = crypto.getRandomValues(new Uint8Array(24));
      const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      const timestamp = String(Math.floor(Date.now() / 1000));
      const body = '{"type":"test.ping"}';
      const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode('msg_1.' + timestamp + '.' + body));
      const base64 = (data) => btoa(String.fromCharCode(...new Uint8Array(data)));
      const headers = new Headers({ 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': 'v1,' + base64(signed) });
      const [event] = await verifyWebhook({ secrets: 'whsec_' + base64(bytes), headers, body });
      return event.type;`);
    expect(result).toBe('test.ping');
  });

  test('logs nothing on the console but the refusal', () => {
    // Chromium itself logs the answer 400.
    expect(problems.filter((problem) => !problem.includes('status of 400'))).toEqual([]);
  });
});
