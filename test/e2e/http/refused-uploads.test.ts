import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../support/common/until.js';
import { hostModule, toyModule } from '../../support/http/edge-toys.js';
import { describeOnBothAdapters, type RunningApp, startApp } from '../../support/http/http-apps.js';
import { RawConnection } from '../../support/http/http-client.js';

const CONNECTIONS = 40;
const BYTES = 1_000_000;
const HEAD = `POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\nContent-Type: application/json\r\nContent-Length: ${BYTES}\r\n\r\n`;
/** Node reads 64 KiB at once: the first read has less of the body, and one more read runs ahead of a pause. */
const MAX_PER_TURN = 3 * 65_536;

describeOnBothAdapters('uploads that are refused', (adapter) => {
  /** The server's ends of the connections. */
  const arrived: Socket[] = [];
  let running: RunningApp;

  beforeEach(async () => {
    running = await startApp(hostModule(toyModule({ limits: { bodyBytes: 100_000 } })), adapter);
    arrived.length = 0;
    running.app.getHttpServer().on('connection', (socket: Socket) => arrived.push(socket));
  });
  afterEach(() => running.close());

  test('take turns: each turn of the event loop reads a limited number of their bytes, and in the end all are read', async () => {
    const open = () => RawConnection.open(running.port, true);
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    const readBefore = new Map<Socket, number>();
    let most = 0;
    let turn: NodeJS.Immediate | undefined;
    const measure = () => {
      for (const socket of arrived) {
        most = Math.max(most, socket.bytesRead - (readBefore.get(socket) ?? 0));
        readBefore.set(socket, socket.bytesRead);
      }
      turn = setImmediate(measure);
    };
    measure();
    try {
      for (const connection of connections) connection.write(Buffer.concat([Buffer.from(HEAD), Buffer.alloc(BYTES)]));
      await Promise.all(connections.map((connection) => connection.until(({ received }) => received.includes('}'))));
      await until(() => arrived.every(({ destroyed }) => destroyed));
    } finally {
      clearImmediate(turn);
    }
    expect(arrived.map(({ bytesRead }) => bytesRead)).toEqual(arrived.map(() => HEAD.length + BYTES));
    expect(most).toBeLessThanOrEqual(MAX_PER_TURN);
  });
});
