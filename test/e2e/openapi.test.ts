import { it } from '@jest/globals';
import { SandboxModule } from '../../src/sandbox/sandbox.module.js';
import { describeOnBothAdapters } from '../support/http-apps.js';
import { call } from '../support/http-client.js';
import { startMessaging } from '../support/messaging-app.js';
import { serveDocument } from '../support/openapi-host.js';

describeOnBothAdapters('x', (adapter) => {
  it('dumps', async () => {
    const app = await startMessaging(adapter, {}, { imports: [SandboxModule.forRoot()], configure: (a) => serveDocument(a) });
    try {
      const { body } = await call(`${app.url}/docs-json`);
      const fs = await import('node:fs');
      fs.writeFileSync(`/tmp/doc-${adapter}.json`, JSON.stringify(body, null, 2));
      for (const p of ['/api/v1/sms/%zz', `/api/v1/sms/${'a'.repeat(101)}`, '/sandbox/phones/%zz/messages', `/sandbox/phones/${'1'.repeat(101)}/messages`, '/api/v1/sms/%00', '/api/v1/sms?limit=', '/api/v1/sms?cursor=a&cursor=b','/sandbox','/api/v1/sms?limit=1&limit=2'])
        { const r = await call(app.url + p, { headers: { 'x-api-key': app.key } });
        console.log(adapter, p.slice(0, 40), r.status, r.headers.get('content-type'), JSON.stringify(r.body).slice(0, 200)); }
      const stop = new AbortController();
      const s = await fetch(`${app.url}/sandbox/events`, { signal: stop.signal });
      const reader = s.body?.getReader();
      console.log([...s.headers]);
      await call(`${app.url}/api/v1/send/sms`, { method: 'POST', headers: { 'x-api-key': app.key }, body: { signature: 'INFOS', content: 'é', number: ['22670000000'] } });
      let t = '';
      while (!t.includes('data:')) t += Buffer.from((await reader?.read())?.value ?? []).toString();
      console.log(JSON.stringify(t));
      stop.abort();
    } finally {
      await app.close();
    }
  });
});
