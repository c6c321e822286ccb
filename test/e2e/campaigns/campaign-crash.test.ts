import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { besiege } from '../../support/campaigns/campaign-siege.js';

const folder = mkdtempSync(join(tmpdir(), 'campaign-crash-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a process killed at random moments, with pauses meanwhile: each recipient gets exactly one SMS', async () => {
  const database = `sqlite:${join(folder, 'messaging.db')}`;
  expect(await besiege({ database, recipients: 600, hosts: 1, kills: 2, pauses: 3, slice: 5 })).toEqual([]);
}, 120_000);
