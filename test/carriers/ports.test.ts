import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/common/until.js';
import { calling, hasKannel, Kannel } from '../support/transports/carriers/kannel.js';
import { onFreePorts } from '../support/transports/carriers/loopback.js';
import { hasOsmoMsc, OsmoMsc } from '../support/transports/carriers/osmo-msc.js';
import { TestSmsc } from '../support/transports/smsc/test-smsc.js';

/** The default ports of Kannel (admin, smsbox, sendsms) and OsmoMSC (SMPP, VTY, CTRL). */
const DEFAULT_PORTS = [13_000, 13_001, 13_013, 2775, 4254, 4255];

describe('carriers next to others of their kind that listen on all addresses of the machine', () => {
  const open: { close(): Promise<unknown> }[] = [];
  const others: Server[] = [];

  beforeAll(async () => {
    for (const port of DEFAULT_PORTS) {
      const other = createServer((socket) => socket.destroy()).listen(port, '0.0.0.0');
      // If such a carrier has taken the port already, that serves as well.
      if (await once(other, 'listening').then(Boolean, () => false)) others.push(other);
    }
  });
  afterAll(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
    await Promise.all(others.map((other) => once(other.close(), 'close')));
  });

  const ofKannel = hasKannel() ? test : test.skip;
  ofKannel('two Kannels at a time each bind to their SMSC', async () => {
    for (let each = 0; each < 2; each++) {
      const smsc = await TestSmsc.listen({ accounts: { kannel: 'secret' } });
      open.push(smsc);
      open.push(await Kannel.start({ smscPort: smsc.port, service: calling('http://127.0.0.1:9/') }));
      await until(() => smsc.connections.some(({ bind }) => bind !== undefined));
    }
  });

  const ofOsmoMsc = hasOsmoMsc() ? test : test.skip;
  ofOsmoMsc('two OsmoMSCs can run at a time', async () => {
    for (let each = 0; each < 2; each++) {
      const osmo = await OsmoMsc.start({ client: 'secret' });
      open.push({ close: () => osmo.stop() });
      expect(DEFAULT_PORTS).not.toContain(osmo.port);
    }
  });
});

describe('free ports', () => {
  const inUse = new Error('bearerbox ended:\nbind failed: System error 98: Address already in use');

  test('are replaced if another process takes one of them first', async () => {
    const tried: string[] = [];
    const started = await onFreePorts(2, async (host, ports) => {
      tried.push(`${host} ${ports}`);
      if (tried.length < 3) throw inUse;
      return ports;
    });
    expect(new Set(started).size).toBe(2);
    expect(new Set(tried).size).toBe(3);
  });

  test('are looked for only a few times, and only if a port was in use', async () => {
    let tries = 0;
    const failing = (error: Error) =>
      onFreePorts(1, async () => {
        tries++;
        throw error;
      });
    await expect(failing(inUse)).rejects.toBe(inUse);
    expect(tries).toBe(5);
    const other = new Error('no such option');
    await expect(failing(other)).rejects.toBe(other);
    expect(tries).toBe(6);
  });
});
