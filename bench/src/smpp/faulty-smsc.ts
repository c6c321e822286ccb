import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

const SUBMIT_SM = 0x04;
const UNBIND = 0x06;
const SUBMIT_SM_RESP = 0x80000004;
const THROTTLED = 0x58;

/** The counts of the peer's actions. */
export interface FaultCounts {
  taken: number;
  throttled: number;
  drops: number;
}

/** A peer that throttles every third submit, closes the connection at every 500th, and answers one in twenty twice. */
export interface FaultySmsc {
  readonly port: number;
  readonly counts: Readonly<FaultCounts>;
  close(): void;
}

export async function startFaultySmsc(): Promise<FaultySmsc> {
  const counts: FaultCounts = { taken: 0, throttled: 0, drops: 0 };
  let submits = 0;

  const submitted = (socket: Socket, sequence: number) => {
    submits++;
    if (submits % 500 === 0) {
      counts.drops++;
      socket.destroy();
    } else if (submits % 3 === 0) {
      counts.throttled++;
      answer(socket, SUBMIT_SM_RESP, sequence, THROTTLED);
    } else {
      counts.taken++;
      for (let times = submits % 20 === 1 ? 2 : 1; times > 0; times--) {
        answer(socket, SUBMIT_SM_RESP, sequence, 0, String(submits));
      }
    }
  };

  const server = createServer({ noDelay: true }, (socket) => {
    let rest = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      let octets = Buffer.concat([rest, chunk]);
      while (octets.length >= 16 && octets.length >= octets.readUInt32BE(0) && !socket.destroyed) {
        const [command, sequence] = [octets.readUInt32BE(4), octets.readUInt32BE(12)];
        if (command === SUBMIT_SM) submitted(socket, sequence);
        else answer(socket, (command | 0x80000000) >>> 0, sequence, 0, command === UNBIND ? undefined : '');
        octets = octets.subarray(octets.readUInt32BE(0));
      }
      rest = octets;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { port: typeof address === 'object' && address ? address.port : 0, counts, close: () => server.close() };
}

/** @param text the body, one C-octet string; undefined: none */
function answer(socket: Socket, command: number, sequence: number, status: number, text?: string): void {
  const body = text === undefined ? Buffer.alloc(0) : Buffer.from(`${text}\0`, 'latin1');
  const header = Buffer.alloc(16);
  [16 + body.length, command, status, sequence].forEach((field, index) => {
    header.writeUInt32BE(field, 4 * index);
  });
  socket.write(Buffer.concat([header, body]));
}
