import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildSampleApp, ROOT } from '../support/sample-app.js';

const SECRET = 'a secret for retention, 0123456789 abcdef';
const NUMBER = '22671234567';

describe('npx nestjs-messaging erase', () => {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-erase-'));

  beforeAll(() => {
    if (!existsSync(join(ROOT, 'dist/operator/operator-command.js'))) buildSampleApp();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (line: string, env: NodeJS.ProcessEnv = {}) =>
    new Promise<{ code: unknown; output: string }>((resolve) => {
      const settings = { ...process.env, DATABASE_URL: `sqlite:${join(folder, 'm.db')}`, ...env };
      const args = ['--no-opt', join(ROOT, 'dist/operator/operator-command.js'), ...line.split(' ')];
      execFile(process.execPath, args, { env: settings }, (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, output: `${stdout}${stderr}`.trim() });
      });
    });

  test('waits until all processes know, keeps the STOP under a hash, and says what stays without a secret', async () => {
    await run(`optout:add all INFOS ${NUMBER}`);
    const left = await run(`erase ${NUMBER}`);
    expect([left.code, JSON.parse(left.output)]).toEqual([0, expect.objectContaining({ optOuts: 0, optOutsLeft: 1 })]);
    const done = await run(`erase ${NUMBER}`, { RETENTION_SECRET: SECRET });
    expect([done.code, JSON.parse(done.output)]).toEqual([0, expect.objectContaining({ optOuts: 1, optOutsLeft: 0 })]);
    const { output } = await run('optout:list all');
    expect(output).not.toContain(NUMBER);
    expect(output).toContain('"number":"hmac:');
    const rotated = { RETENTION_SECRET: `${SECRET} new`, RETENTION_PREVIOUS_SECRET: SECRET };
    expect(await run(`optout:remove all INFOS ${NUMBER}`, rotated)).toEqual({ code: 0, output: '{"removed":1}' });
  });

  test('refuses what is no number, and a secret that is none, with a sentence', async () => {
    expect(await run('erase +226')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^Refused: Invalid number: \+226\.$/),
    });
    const weak = await run(`erase ${NUMBER}`, { RETENTION_SECRET: 'short' });
    expect(weak).toEqual({ code: 1, output: expect.stringMatching(/^RETENTION_SECRET is too weak: /) });
    const alone = await run(`erase ${NUMBER}`, { RETENTION_PREVIOUS_SECRET: SECRET });
    expect(alone).toEqual({ code: 1, output: 'RETENTION_PREVIOUS_SECRET needs RETENTION_SECRET, the present one.' });
  });
});
