import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
import { eventually } from '../../../../support/common/eventually.js';
import { ClientSockets } from '../../../../support/transports/smsc/client-sockets.js';
import { encodePdu } from '../../../../support/transports/smsc/encode-pdu.js';
import { aMessage, openBind } from '../../../../support/transports/smsc/open-bind.js';
import { RawPeer } from '../../../../support/transports/smsc/raw-peer.js';
import { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';

let smsc: TestSmsc;
let clock: FakeClock;

beforeEach(async () => {
  smsc = await TestSmsc.listen();
  clock = new FakeClock();
});
afterEach(() => smsc.close());

const SILENT = { reason: 'the SMSC is silent', orderly: false };

describe('a quiet link', () => {
  test('is asked for a sign of life after the idle time, again and again', async () => {
    const bind = await openBind(smsc.port, { clock });
    for (let time = 1; time <= 4; time++) {
      clock.advance(29_999);
      await smsc.connection.enquire();
      expect(smsc.connection.count('enquire_link')).toBe(0);
    }
    for (let time = 1; time <= 4; time++) {
      clock.advance(30_000);
      await eventually(() => smsc.connection.count('enquire_link') === time);
      // It was answered: the next thing that the bind hears comes after that answer.
      await smsc.connection.enquire();
    }
    expect(bind.open).toBe(true);
  });

  test('is not asked while anything is received', async () => {
    const bind = await openBind(smsc.port, { clock });
    for (let time = 0; time < 5; time++) {
      clock.advance(20_000);
      await bind.submit(aMessage());
    }
    expect(smsc.connection.count('enquire_link')).toBe(0);
  });

  test('that stays silent is dead after the second question', async () => {
    const bind = await openBind(smsc.port, { clock });
    const { connection } = smsc;
    connection.silent = true;
    clock.advance(30_000 + 10_000 + 9_999);
    expect(bind.open).toBe(true);
    clock.advance(1);
    expect(bind.open).toBe(false);
    expect(await bind.ended).toEqual(SILENT);
    await eventually(() => connection.closed);
  });

  test('that speaks again after the first question stays alive', async () => {
    const bind = await openBind(smsc.port, { clock });
    smsc.connection.silent = true;
    clock.advance(35_000);
    smsc.connection.silent = false;
    await smsc.connection.deliver(aMessage());
    clock.advance(29_999);
    expect(bind.open).toBe(true);
    smsc.connection.silent = true;
    clock.advance(1 + 19_999);
    expect(bind.open).toBe(true);
    clock.advance(1);
    expect(await bind.ended).toEqual(SILENT);
  });

  test('in doubt gets nothing new, so nothing new gets lost', async () => {
    const bind = await openBind(smsc.port, { clock });
    smsc.connection.silent = true;
    clock.advance(30_000);
    const held = bind.submit(aMessage());
    expect([bind.outstanding, bind.waiting]).toEqual([0, 1]);
    clock.advance(20_000);
    expect(await held).toEqual({ kind: 'not-sent', reason: SILENT.reason });
    expect(smsc.submits).toEqual([]);
  });

  test('out of doubt continues with what was held', async () => {
    const bind = await openBind(smsc.port, { clock });
    smsc.connection.silent = true;
    clock.advance(30_000);
    const held = bind.submit(aMessage());
    smsc.connection.silent = false;
    await smsc.connection.enquire();
    expect(await held).toMatchObject({ kind: 'answered' });
  });

  test('whose clock is set back is still asked', async () => {
    await openBind(smsc.port, { clock });
    clock.advance(29_000);
    await smsc.connection.enquire();
    // FakeClock cannot do this: now() goes back while timers run on.
    const now = clock.now.bind(clock);
    clock.now = () => now() - 86_400_000;
    clock.advance(1_000);
    clock.advance(30_000);
    await eventually(() => smsc.connection.count('enquire_link') >= 1);
  });
});

describe('a peer that sends octets and never a whole PDU', () => {
  let peer: RawPeer;
  const ours = new ClientSockets();
  afterEach(async () => {
    ours.stop();
    await peer.close();
  });

  test('is dead like a silent one', async () => {
    let slow: Socket | undefined;
    peer = await RawPeer.listen((socket) => {
      slow = socket;
      socket.once('data', () =>
        socket.write(encodePdu({ command: 'bind_transceiver_resp', status: 0, sequence: 1, systemId: '', tlvs: [] })),
      );
    });
    const bind = await openBind(peer.port, { clock });
    const { newest } = ours;
    // One octet each second of a PDU of 60 000.
    for (const octet of [0, 0, 0xea, 0x60, ...new Array(45).fill(0)]) {
      const before = newest.bytesRead;
      slow?.write(Buffer.of(octet));
      await eventually(() => newest.bytesRead > before);
      clock.advance(1_000);
      expect(bind.open).toBe(true);
    }
    clock.advance(1_000);
    expect(await bind.ended).toEqual(SILENT);
  });
});
