import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { statusCode } from '../../../../../src/transports/smpp/command-status.js';
import { manySms, smppFixture, smsOf } from '../../../../support/transports/smpp-fixture.js';
import { SMSC_TEST_CERTIFICATE, SMSC_TEST_KEY } from '../../../../support/transports/smsc/tls-fixture.js';

const fixture = smppFixture();
const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind);

/** The log, as `level sentence`. */
let logged: string[] = [];
beforeEach(() => {
  logged = [];
  for (const level of ['log', 'warn', 'error'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((sentence: unknown) => {
      logged.push(`${level} ${sentence}`);
    });
  }
});
afterEach(() => {
  jest.restoreAllMocks();
});

const binds = (connections: readonly { count(command: 'bind_transceiver'): number }[]) =>
  connections.reduce((sum, each) => sum + each.count('bind_transceiver'), 0);

describe('binding', () => {
  test.each([
    [0x0e, 'wrong password (0x0e)'],
    [0x0f, 'wrong system id (0x0f)'],
    [0x05, 'already bound (0x05)'],
    [0x0d, 'bind failed (0x0d)'],
    [0x53, 'wrong system type (0x53)'],
    [0x03, 'it does not know this kind of bind, see the option bindAs (0x03)'],
  ])(
    'that is refused with %i causes an error in the log and slow attempts, until it is corrected',
    async (status, why) => {
      const smsc = await fixture().smsc({ onBind: () => status });
      const transport = await fixture().start([{ port: smsc.port, password: 'opensesa' }]);
      await fixture().until(() => binds(smsc.connections) === 5, 500);
      const begun = fixture().clock.now();
      await fixture().until(() => fixture().clock.now() - begun > 600_000, 500);
      // 30 to 60 s apart.
      expect(binds(smsc.connections)).toBeGreaterThan(5 + 9);
      expect(binds(smsc.connections)).toBeLessThan(5 + 22);
      const errors = logged.filter((line) => line.startsWith('error'));
      expect(errors[0]).toContain(why);
      // One a minute, however often it was refused.
      expect(errors.length).toBeGreaterThan(7);
      expect(errors.length).toBeLessThan(13);
      expect(logged.join()).not.toContain('opensesa');
      smsc.onBind = () => 0;
      // The carrier's own refusal costs no attempt.
      expect(await fixture().results(transport, smsOf('x'), 100)).toMatchObject([
        { kind: 'postponed', error: `smpp: ${statusCode(status)}`, away: true },
      ]);
      await fixture().until(() => logged.at(-1) === 'log Link smpp is bound.', 500);
      expect(kinds(await fixture().results(transport, smsOf('x')))).toEqual(['sent']);
    },
  );

  test('with a password longer than SMPP 3.4 allows sends it to the carrier in full', async () => {
    const password = `${'longer-'.repeat(9)}!`;
    const smsc = await fixture().smsc({ accounts: { client: password } });
    const transport = await fixture().start([{ port: smsc.port, password, longPassword: true }]);
    expect(kinds(await fixture().results(transport, smsOf('x')))).toEqual(['sent']);
    expect(smsc.connection.bind?.password).toBe(password);
  });

  test('with a system id longer than SMPP 3.4 allows sends it to the carrier in full', async () => {
    const systemId = 'acme-burkina-prod-01';
    const smsc = await fixture().smsc({ accounts: { [systemId]: 'secret' } });
    const transport = await fixture().start([{ port: smsc.port, systemId, longSystemId: true }]);
    expect(kinds(await fixture().results(transport, smsOf('x')))).toEqual(['sent']);
    expect(smsc.connection.bind?.systemId).toBe(systemId);
  });

  test('is tried less and less often if a carrier drops every bind', async () => {
    const smsc = await fixture().smsc({ onBind: () => 0 });
    await fixture().start([{ port: smsc.port }]);
    const dropAll = () => {
      for (const each of smsc.connections) if (each.bind) each.drop();
    };
    const begun = fixture().clock.now();
    await fixture().until(() => {
      dropAll();
      return fixture().clock.now() - begun > 600_000;
    }, 100);
    // Upper limits of 1, 2, 4 … 60 s, half of that on average: about 6 in the first minute and then 2 in each.
    expect(binds(smsc.connections)).toBeGreaterThan(12);
    expect(binds(smsc.connections)).toBeLessThan(60);
  });

  test('is quick again after a bind that lasted 30 s', async () => {
    const smsc = await fixture().smsc();
    await fixture().start([{ port: smsc.port }]);
    const bound = () => logged.filter((line) => line.includes('is bound')).length;
    const dropSoon = async () => {
      const before = bound();
      smsc.connection.drop();
      await fixture().until(() => bound() > before, 200);
    };
    await fixture().until(() => bound() === 1);
    for (let round = 0; round < 8; round++) await dropSoon();
    const held = fixture().clock.now();
    await fixture().until(() => fixture().clock.now() - held >= 30_000, 200);
    const waits: number[] = [];
    for (let round = 0; round < 3; round++) {
      const begun = fixture().clock.now();
      await dropSoon();
      waits.push(fixture().clock.now() - begun);
    }
    // Below upper limits of 1, 2 and 4 s, and a step of the clock.
    expect(waits[0]).toBeLessThanOrEqual(1400);
    expect(waits[1]).toBeLessThanOrEqual(2400);
    expect(waits[2]).toBeLessThanOrEqual(4400);
  });

  test('starts each bind with sequence numbers of its own', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    await fixture().results(transport, manySms(3));
    smsc.connection.drop();
    await fixture().results(transport, manySms(3));
    expect(smsc.submits.map(({ pdu }) => pdu.sequence)).toEqual([2, 3, 4, 2, 3, 4]);
  });

  test('as a receiver takes no work, as a transmitter it does', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([
      { port: smsc.port, bindAs: 'receiver' },
      { port: smsc.port, bindAs: 'transmitter' },
    ]);
    expect(kinds(await fixture().results(transport, manySms(20)))).toEqual(Array(20).fill('sent'));
    expect(new Set(smsc.submits.map(({ connection }) => connection.bind?.command))).toEqual(
      new Set(['bind_transmitter']),
    );
  });
});

describe('without a link', () => {
  test('a batch waits ten seconds, the next ones do not, and all go out when the link comes', async () => {
    const smsc = await fixture().smsc({ onBind: () => undefined });
    const transport = await fixture().start([{ port: smsc.port, bindTimeoutMs: 1000, reconnectMaxMs: 2000 }]);
    const begun = fixture().clock.now();
    const results = await fixture().results(transport, manySms(3), 50);
    expect(results).toEqual(Array(3).fill({ kind: 'retry', error: 'smpp: no link' }));
    expect(fixture().clock.now() - begun).toBeGreaterThanOrEqual(10_000);
    expect(fixture().clock.now() - begun).toBeLessThan(12_000);
    expect(kinds(await fixture().submit(transport, manySms(1)))).toEqual(['retry']);
    smsc.onBind = () => 0;
    await fixture().until(() => logged.includes('log Link smpp is bound.'), 50);
    expect(kinds(await fixture().results(transport, manySms(3)))).toEqual(['sent', 'sent', 'sent']);
  });

  test('a message that has begun waits a minute for it', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, partsPerSecond: 1, bindTimeoutMs: 1000 }]);
    const results = fixture().submit(transport, smsOf('a'.repeat(200), 'short'));
    await fixture().until(() => smsc.connections[0]?.outstanding === 0 && smsc.submits.length === 1);
    fixture().clock.advance(10);
    await fixture().until(() => smsc.submits[0]?.answered === true);
    const begun = fixture().clock.now();
    smsc.onBind = () => undefined;
    smsc.connection.drop();
    expect(await fixture().settled(results, 100)).toMatchObject([
      { kind: 'sent', final: 'undelivered', error: 'smpp: no link (part 2 of 2)' },
      { kind: 'retry', error: 'smpp: no link' },
    ]);
    expect(fixture().clock.now() - begun).toBeGreaterThanOrEqual(59_000);
    expect(smsc.submits).toHaveLength(1);
  });
});

describe('several links', () => {
  test('share the work, each within its window', async () => {
    const [first, second] = [await fixture().smsc(), await fixture().smsc()];
    const transport = await fixture().start([
      { port: first.port, window: 2 },
      { port: second.port, window: 6 },
    ]);
    await fixture().until(() => logged.filter((line) => line.includes('is bound')).length === 2);
    await fixture().results(transport, manySms(200));
    expect(first.submits.length + second.submits.length).toBe(200);
    expect(first.submits.length).toBeGreaterThan(20);
    expect(second.submits.length).toBeGreaterThan(20);
    expect(first.connections[0]?.maxOutstanding).toBeLessThanOrEqual(2);
  });

  test('do not wait for a slow one', async () => {
    const [slow, quick] = [await fixture().smsc(), await fixture().smsc()];
    const transport = await fixture().start([{ port: slow.port, partsPerSecond: 1 }, { port: quick.port }]);
    await fixture().until(() => logged.filter((line) => line.includes('is bound')).length === 2);
    const begun = fixture().clock.now();
    await fixture().results(transport, manySms(100));
    expect(fixture().clock.now() - begun).toBeLessThan(3000);
    expect(slow.submits.length).toBeLessThan(5);
  });
});

describe('the security of the network', () => {
  const TLS = { cert: SMSC_TEST_CERTIFICATE, key: SMSC_TEST_KEY };

  test('without TLS there is one warning at the start, for all links', async () => {
    const smsc = await fixture().smsc();
    await fixture().start([{ port: smsc.port }, { port: smsc.port }]);
    const warnings = logged.filter((line) => line.includes('No TLS'));
    expect(warnings).toEqual([
      'warn No TLS on smpp, smpp-2: password and texts go over the network in clear. See option tls.',
    ]);
  });

  test('a certificate that nobody vouches for is refused', async () => {
    const smsc = await fixture().smsc({ tls: TLS });
    await fixture().start([{ port: smsc.port, tls: { servername: 'smsc.test' } }]);
    await fixture().until(() => logged.some((line) => line.startsWith('warn Link smpp')));
    expect(binds(smsc.connections)).toBe(0);
  });

  test('a certificate that somebody vouches for is accepted', async () => {
    const smsc = await fixture().smsc({ tls: TLS });
    const tls = { servername: 'smsc.test', ca: SMSC_TEST_CERTIFICATE };
    const transport = await fixture().start([{ port: smsc.port, tls }]);
    expect(kinds(await fixture().results(transport, smsOf('x')))).toEqual(['sent']);
    expect(logged.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  test('a link that accepts any certificate logs a warning', async () => {
    const smsc = await fixture().smsc({ tls: TLS });
    const transport = await fixture().start([{ port: smsc.port, tls: { rejectUnauthorized: false } }]);
    expect(kinds(await fixture().results(transport, smsOf('x')))).toEqual(['sent']);
    expect(logged).toContain('warn Link smpp accepts any certificate: anybody can pretend to be the carrier.');
  });

  test('no log contains a text, a number or a password', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = (submit) => (submit.index % 2 ? submit.connection.drop() : submit.answer({ status: 0x0b }));
    const transport = await fixture().start([{ port: smsc.port }]);
    await fixture().results(transport, manySms(10));
    expect(logged.length).toBeGreaterThan(2);
    expect(logged.join('\n')).not.toMatch(/text \d|2267000|secret/);
  });
});
