import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { hasPeer } from '../support/transports/carriers/installed.js';
import { BODY, CALLS, receiver, secret } from '../support/webhooks/docs-calls.js';

const run = promisify(execFile);

const python = hasPeer('The Python receiver', 'python3', ['python3']) ? test.each(CALLS) : test.skip.each(CALLS);
python('the Python receiver handles a call %s, accepted: %s', async (_, holds, headers) => {
  const script = `import json, sys\nprint(verify(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode()))`;
  const code = `${receiver('webhook.python')}\n${script}`;
  const { stdout } = await run('python3', ['-c', code, secret, JSON.stringify(headers()), BODY]);
  expect(stdout.trim()).toBe(holds ? 'True' : 'False');
});

const php = hasPeer('The PHP receiver', 'php-cli', ['php']) ? test.each(CALLS) : test.skip.each(CALLS);
php('the PHP receiver handles a call %s, accepted: %s', async (_, holds, headers) => {
  const code = `${receiver('webhook.php')}\nvar_export(verify(...array_slice($argv, 1)));`;
  const given = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers()[name] ?? '');
  const { stdout } = await run('php', ['-r', code, '--', secret, ...given, BODY]);
  expect(stdout).toBe(String(holds));
});
