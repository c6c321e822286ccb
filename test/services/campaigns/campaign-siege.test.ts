import { afterAll, describe, expect, test } from '@jest/globals';
import { besiege } from '../../support/campaigns/campaign-siege.js';
import { LOCKING_SERVERS } from '../../support/databases/held-row.js';
import { hasServer } from '../../support/databases/servers.js';

const drops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const drop of drops) await drop();
});

describe.each(Object.entries(LOCKING_SERVERS))('%s', (name, server) => {
  test('three processes killed at random moments, with pauses meanwhile: each recipient gets one SMS', async () => {
    if (!(await hasServer(name, server.port))) return;
    const { url, drop } = await server.create();
    drops.push(drop);
    const order = { database: url, recipients: 1000, hosts: 3, kills: 4, pauses: 10, slice: 5 };
    expect(await besiege(order)).toEqual([]);
  }, 240_000);
});
