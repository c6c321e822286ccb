import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/common/until.js';
import { snippets as blocks } from '../support/docs/readme.js';
import { EventReader } from '../support/events/event-reader.js';
import { call } from '../support/http/http-client.js';
import { startService } from '../support/mounting/services.js';
import { MSGAPP, msgappClient, startMsgapp } from '../support/msgapp/msgapp-app.js';
import { buildSampleApp, type SampleApp, sampleFolder, startSampleApp } from '../support/sample-app/sample-app.js';
import { hasPeer } from '../support/transports/carriers/installed.js';

const run = promisify(execFile);

(hasPeer('What the docs show for a shell', 'bash curl grep', ['bash', 'curl', 'grep']) ? describe : describe.skip)(
  'docs, shell',
  () => {
    let app: SampleApp;
    /** The permissions of a user who may do everything that users of an account may do. */
    let token: string;
    const folder = sampleFolder();

    beforeAll(async () => {
      buildSampleApp();
      app = await startSampleApp(folder);
      const [, secret = ''] = /#link=(\S+)/.exec(app.output) ?? [];
      const { body } = await call(`${app.url}/api/v1/session/exchange`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ token: secret }),
      });
      token = String(Object(body).access_token);
    });

    afterAll(async () => {
      await app.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });

    test.each(blocks('bash'))('%s', async (_, text) => {
      const env = { ...process.env, URL: app.url, KEY: app.key, TOKEN: token };
      // Commands that wait for an event wait in vain here, and no longer than necessary.
      const line = text.replaceAll('curl ', 'curl -fsS ').replace(/\bwait=\d+/, 'wait=1');
      const { stdout } = await run('bash', ['-ec', line], { env });
      expect(stdout).toMatch(/^\{.*\}$/s);
    });
  },
);

(hasPeer('The code to scan in curl', 'curl', ['curl']) ? test : test.skip)(
  'curl -N shows a code to scan as soon as it comes',
  async () => {
    const service = await startMsgapp((options, more) => startService('express', options, more), { msgapp: MSGAPP });
    const client = await msgappClient(service);
    const { qr_url } = await client.connect();
    const watching = run('curl', ['-sN', qr_url]);
    let shown = '';
    watching.child.stdout?.on('data', (text) => (shown += text));
    await until(() => shown.includes('event: qr'));
    const image = await call(`${qr_url}/image`);
    expect(image.status).toBe(200);
    const events = await EventReader.open(qr_url);
    const { data } = await events.first('qr');
    await client.scan('22670000105', data.qr);
    const { stdout } = await watching;
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^data: \{.*"status":"connected"/);
    await service.close();
  },
);
