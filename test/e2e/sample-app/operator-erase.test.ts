import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { AddressStore } from '../../../src/msgapp/address-store.js';
import { operateShipped } from '../../support/sample-app/sample-operator.js';

const SECRET = 'a secret for retention, 0123456789 abcdef';
const NUMBER = '22671234567';

describe('npx nestjs-messaging erase', () => {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-erase-'));

  afterAll(() => rmSync(folder, { recursive: true }));

  const run = async (line: string, env: NodeJS.ProcessEnv = {}) => {
    const { code, output } = await operateShipped(folder, line.split(' '), env);
    return { code, output: output.trim() };
  };

  test('waits until all processes know, keeps the STOP under a hash, and says what stays if there is no secret', async () => {
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

  test('removes what a messaging app and the sandbox know about the phone, under each of its spellings', async () => {
    const [today, before] = ['5511987654321', '551187654321'];
    const storage = new TypeormStorage({ database: `sqlite:${join(folder, 'messaging.db')}` });
    await storage.start();
    const addresses = storage.store(AddressStore);
    for (const number of [today, before, '5511987654322']) {
      for (const app of ['baileys', 'another']) {
        await addresses.remember({ app, number }, { address: `${before}@s.whatsapp.net`, learnedAt: Date.now() });
      }
    }
    const { code, output } = await run(`erase ${before}`);
    expect([code, JSON.parse(output)]).toEqual([
      0,
      expect.objectContaining({ addresses: 4, received: 0, phones: 0, codes: 0, inboundParts: 0 }),
    ]);
    for (const number of [today, before]) expect(await addresses.find({ app: 'baileys', number })).toBeUndefined();
    expect(await addresses.find({ app: 'baileys', number: '5511987654322' })).toBeDefined();
    await storage.stop();
  });

  test('refuses a malformed number and a malformed secret with a sentence', async () => {
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
