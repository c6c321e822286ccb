import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
import { BindError } from '../../../../../src/transports/smpp/bind/bind-wire.js';
import { until } from '../../../../support/common/until.js';
import { encodePdu } from '../../../../support/transports/smsc/encode-pdu.js';
import { aMessage, openBind } from '../../../../support/transports/smsc/open-bind.js';
import { RawPeer } from '../../../../support/transports/smsc/raw-peer.js';
import { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';
import { SMSC_TEST_CERTIFICATE, SMSC_TEST_KEY } from '../../../../support/transports/smsc/tls-fixture.js';

let smsc: TestSmsc | undefined;
const peers: RawPeer[] = [];

afterEach(async () => {
  await smsc?.close();
  for (const peer of peers.splice(0)) await peer.close();
});

async function listen(options?: Parameters<typeof TestSmsc.listen>[0]): Promise<TestSmsc> {
  smsc = await TestSmsc.listen(options);
  return smsc;
}

/** A peer that answers whatever comes first with `answer`. */
async function peerThat(answer: (socket: Socket) => void): Promise<number> {
  const peer = await RawPeer.listen((socket) => socket.once('data', () => answer(socket)));
  peers.push(peer);
  return peer.port;
}

const failureOf = async (opening: Promise<unknown>): Promise<BindError> => {
  const error = await opening.catch((reason: unknown) => reason);
  if (error instanceof BindError) return error;
  throw new Error(`Not a bind error: ${error}`);
};

describe('binding', () => {
  test('sends the request of SMPP 3.4', async () => {
    const { port, connections } = await listen();
    const bind = await openBind(port, { settings: { systemType: 'OTP' } });
    expect(connections[0]?.bind).toEqual({
      command: 'bind_transceiver',
      status: 0,
      sequence: 1,
      systemId: 'client',
      password: 'secret',
      systemType: 'OTP',
      interfaceVersion: 0x34,
      addressRange: { ton: 0, npi: 0, address: '' },
    });
    expect(bind.open).toBe(true);
    expect(bind.peerSystemId).toBe('test-smsc');
  });

  test.each(['transmitter', 'receiver'] as const)('works as a %s', async (bindAs) => {
    const { port, connections } = await listen();
    await openBind(port, { settings: { bindAs } });
    expect(connections[0]?.bind?.command).toBe(`bind_${bindAs}`);
  });

  test.each([
    [{ password: 'wrong' }, 0x0e],
    [{ systemId: 'nobody' }, 0x0f],
  ])('is refused for %j', async (settings, status) => {
    const { port } = await listen();
    const error = await failureOf(openBind(port, { settings }));
    expect(error.status).toBe(status);
    expect(error.message).not.toContain('wrong');
  });

  test.each([0x05, 0x0d, 0x58])('is refused with %d by the SMSC', async (status) => {
    const { port } = await listen({ onBind: () => status });
    expect((await failureOf(openBind(port))).status).toBe(status);
  });

  test('is not complete if it is answered by a nack that says "ok"', async () => {
    const port = await peerThat((socket) =>
      socket.write(encodePdu({ command: 'generic_nack', status: 0, sequence: 1 })),
    );
    expect((await failureOf(openBind(port))).status).toBe(0xff);
  });

  test('answers requests that come before its own answer', async () => {
    const port = await peerThat((socket) => {
      socket.write(encodePdu({ command: 'enquire_link', status: 0, sequence: 77 }));
      socket.once('data', (octets) => {
        expect(octets.toString('hex')).toBe('0000001080000015000000000000004d');
        const sequence = 1;
        socket.write(encodePdu({ command: 'bind_transceiver_resp', status: 0, sequence, systemId: 's', tlvs: [] }));
      });
    });
    expect((await openBind(port)).peerSystemId).toBe('s');
  });

  test('handles everything that comes in one piece with the answer', async () => {
    const answer = encodePdu({ command: 'bind_transceiver_resp', status: 0, sequence: 1, systemId: '', tlvs: [] });
    const text = encodePdu({ command: 'deliver_sm', status: 0, sequence: 5, ...aMessage() });
    const port = await peerThat((socket) => socket.write(Buffer.concat([answer, text])));
    const delivered: number[] = [];
    await openBind(port, { handlers: { deliver: async ({ sequence }) => void delivered.push(sequence) } });
    await until(() => delivered.length === 1);
  });
});

describe('no bind is made', () => {
  test('if nobody listens', async () => {
    // The discard port: nothing listens there.
    const error = await failureOf(openBind(9));
    expect(error.status).toBeUndefined();
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('if the bind is not answered in time; the connection is given up', async () => {
    const { port, connections } = await listen({ onBind: () => undefined });
    const clock = new FakeClock();
    const opening = openBind(port, { clock, settings: { bindTimeoutMs: 10_000 } });
    await until(() => connections[0]?.count('bind_transceiver') === 1);
    clock.advance(9_999);
    expect(connections[0]?.closed).toBe(false);
    clock.advance(1);
    expect((await failureOf(opening)).message).toBe('no answer to the bind in time');
    await until(() => connections[0]?.closed);
  });

  test('if the SMSC closes the connection, or announces an impossible length', async () => {
    const hangUp = await peerThat((socket) => socket.end());
    expect((await failureOf(openBind(hangUp))).message).toBe('the SMSC closed the connection');
    const garbage = await peerThat((socket) => socket.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect((await failureOf(openBind(garbage))).message).toContain('command_length');
  });

  test('if it is cancelled, before and while it is under way', async () => {
    const { port, connections } = await listen({ onBind: () => undefined });
    const controller = new AbortController();
    const opening = openBind(port, { signal: controller.signal });
    await until(() => connections[0]?.count('bind_transceiver') === 1);
    controller.abort();
    expect((await failureOf(opening)).message).toContain('given up');
    expect((await failureOf(openBind(port, { signal: controller.signal }))).message).toContain('given up');
    await until(() => connections.every((each) => each.closed));
  });
});

describe('over TLS', () => {
  const withTls = () => listen({ tls: { cert: SMSC_TEST_CERTIFICATE, key: SMSC_TEST_KEY } });

  test('a certificate that nobody vouches for is refused, before any password is sent', async () => {
    const { port, connections } = await withTls();
    const error = await failureOf(openBind(port, { settings: { tls: { servername: 'smsc.test' } } }));
    expect(error.message).toMatch(/self-signed|DEPTH_ZERO/);
    expect(connections.flatMap((each) => each.received)).toEqual([]);
  });

  test('a certificate of our own authority is accepted for its own name only', async () => {
    const { port } = await withTls();
    const ca = SMSC_TEST_CERTIFICATE;
    const bind = await openBind(port, { settings: { tls: { ca, servername: 'smsc.test' } } });
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'answered', status: 0 });
    const other = await failureOf(openBind(port, { settings: { tls: { ca: [ca], servername: 'other.test' } } }));
    expect(other.message).toMatch(/altnames|does not match/i);
    // The host itself, an address, is not a name of this certificate.
    expect((await failureOf(openBind(port, { settings: { tls: { ca } } }))).message).toContain('127.0.0.1');
  });

  test('any certificate is accepted if that is configured', async () => {
    const { port } = await withTls();
    expect((await openBind(port, { settings: { tls: { rejectUnauthorized: false } } })).open).toBe(true);
  });

  test('our certificate is sent if the SMSC requires one', async () => {
    const mutual = { cert: SMSC_TEST_CERTIFICATE, key: SMSC_TEST_KEY, ca: SMSC_TEST_CERTIFICATE };
    const { port } = await listen({ tls: { ...mutual, requestCert: true, rejectUnauthorized: true } });
    const bare = { ca: SMSC_TEST_CERTIFICATE, servername: 'smsc.test' };
    await failureOf(openBind(port, { settings: { tls: bare } }));
    expect((await openBind(port, { settings: { tls: { ...bare, ...mutual } } })).open).toBe(true);
  });

  test('settings that cannot be read are refused, without showing the key', async () => {
    const error = await failureOf(openBind(1, { settings: { tls: { cert: 'nonsense', key: 'the-private-key' } } }));
    expect(error.message).not.toContain('the-private-key');
  });
});
