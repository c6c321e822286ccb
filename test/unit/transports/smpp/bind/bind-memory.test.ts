import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
import { eventually } from '../../../../support/common/eventually.js';
import { ClientSockets } from '../../../../support/transports/smsc/client-sockets.js';
import { encodePdu } from '../../../../support/transports/smsc/encode-pdu.js';
import { aMessage, openBind } from '../../../../support/transports/smsc/open-bind.js';
import { RawPeer } from '../../../../support/transports/smsc/raw-peer.js';

const MIB = 2 ** 20;
/** One write of ours, and the answers that a chunk from the peer can cause. */
const MAX_BUFFERED = MIB / 4;
const BOUND = encodePdu({ command: 'bind_transceiver_resp', status: 0, sequence: 1, systemId: '', tlvs: [] });

let peer: RawPeer;
let ours: ClientSockets;

beforeEach(() => {
  ours = new ClientSockets();
});
afterEach(async () => {
  ours.stop();
  await peer.close();
});

/** Accepts a bind and then does as it is told. */
async function peerThat(behaves: (socket: Socket) => void): Promise<void> {
  peer = await RawPeer.listen((socket) => {
    socket.once('data', () => {
      socket.write(BOUND);
      behaves(socket);
    });
  });
}

describe('a peer that does not read', () => {
  test('gets no more than the window', async () => {
    await peerThat((socket) => socket.pause());
    const bind = await openBind(peer.port, { settings: { window: 10 } });
    const large = { ...aMessage(), tlvs: [{ tag: 0x0424, value: new Uint8Array(60_000) }] };
    for (let number = 0; number < 1_000; number++) void bind.submit(large);
    await eventually(() => ours.newest.bytesWritten > 500_000);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(bind.outstanding).toBeLessThanOrEqual(10);
    expect(ours.newest.bytesWritten).toBeLessThan(11 * 60_100);
  });

  test('gets no more than fits into the kernel, however large the window is', async () => {
    await peerThat((socket) => socket.pause());
    const bind = await openBind(peer.port, { settings: { window: 1_000_000 } });
    const large = { ...aMessage(), tlvs: [{ tag: 0x0424, value: new Uint8Array(1_000) }] };
    let most = 0;
    for (let turn = 0; turn < 100; turn++) {
      for (let number = 0; number < 1_000; number++) void bind.submit(large);
      await setImmediate();
      most = Math.max(most, ours.newest.writableLength);
    }
    // 100 MB are offered.
    await eventually(() => ours.newest.writableNeedDrain);
    expect(most).toBeLessThan(MAX_BUFFERED);
    expect(bind.waiting).toBeGreaterThan(50_000);
    bind.destroy('enough');
  });
});

describe('a peer that asks endlessly and does not read the answers', () => {
  const ASKED = 400_000;
  const questions = Buffer.concat(
    Array.from({ length: 1_000 }, () => encodePdu({ command: 'enquire_link', status: 0, sequence: 7 })),
  );

  test('is not read either, and is dead in the end', async () => {
    const clock = new FakeClock();
    await peerThat((socket) => {
      socket.pause();
      for (let sent = 0; sent < ASKED; sent += 1_000) socket.write(questions);
    });
    const bind = await openBind(peer.port, { clock });
    await eventually(() => ours.newest.isPaused());
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(ours.newest.writableLength).toBeLessThan(MAX_BUFFERED);
    // Not all questions were read. The rest stays with the peer.
    expect(ours.newest.bytesRead).toBeLessThan(ASKED * 16);
    clock.advance(50_000);
    expect(await bind.ended).toEqual({ reason: 'the SMSC is silent', orderly: false });
  });

  test('gets every answer once it reads', async () => {
    let answered = 0;
    let asking: Socket | undefined;
    await peerThat((socket) => {
      asking = socket.pause();
      socket.on('data', (chunk) => {
        answered += chunk.length;
      });
      socket.pause();
      for (let sent = 0; sent < ASKED; sent += 1_000) socket.write(questions);
    });
    await openBind(peer.port);
    await eventually(() => ours.newest.isPaused());
    asking?.resume();
    await eventually(() => answered === ASKED * 16);
  });
});
