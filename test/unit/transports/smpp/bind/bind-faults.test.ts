import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
import { BindError } from '../../../../../src/transports/smpp/bind/bind-wire.js';
import type { SmppBind } from '../../../../../src/transports/smpp/bind/smpp-bind.js';
import { until } from '../../../../support/common/until.js';
import { type Cut, CuttingProxy } from '../../../../support/transports/smsc/cutting-proxy.js';
import { aMessage, openBind } from '../../../../support/transports/smsc/open-bind.js';
import { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';

let smsc: TestSmsc;

beforeEach(async () => {
  smsc = await TestSmsc.listen();
});
afterEach(() => smsc.close());

/** The results of one exchange: bind, two submits at once, a receipt for the first, unbind. */
interface Exchange {
  readonly bound: boolean;
  readonly outcomes: readonly string[];
  readonly delivered: number;
  readonly ended: boolean;
  /** The submits that the SMSC saw. */
  readonly seen: readonly number[];
  readonly passed: CuttingProxy['passed'];
}

async function exchange(cut?: Cut, dripping = false): Promise<Exchange> {
  const seenBefore = smsc.submits.length;
  const proxy = await CuttingProxy.listen(smsc.port, cut, dripping);
  let delivered = 0;
  let receipt: Promise<unknown> = Promise.resolve();
  smsc.onSubmit = (submit) => {
    submit.answer();
    if (submit.index === seenBefore) receipt = submit.receipt().catch(() => {});
  };
  const bind = await openBind(proxy.port, { handlers: { deliver: async () => void delivered++ } }).catch(
    (error: unknown) => {
      if (error instanceof BindError) return undefined;
      throw error;
    },
  );
  const outcomes = bind ? await Promise.all([bind.submit(aMessage(0)), bind.submit(aMessage(1))]) : [];
  await receipt;
  const end = await bind?.close();
  await until(() => smsc.connections.every((each) => each.closed));
  await proxy.close();
  return {
    bound: bind !== undefined,
    outcomes: outcomes.map(({ kind }) => kind),
    delivered,
    ended: end !== undefined,
    seen: smsc.submits.slice(seenBefore).map(({ pdu }) => Number(pdu.destination.address) - 33_600_000_000),
    passed: proxy.passed,
  };
}

describe('a connection that is cut at every octet', () => {
  test.each(['toSmsc', 'toClient'] as const)(
    '%s: each submit gets a true result, and everything ends',
    async (direction) => {
      const whole = await exchange();
      expect(whole).toMatchObject({ bound: true, outcomes: ['answered', 'answered'], delivered: 1, seen: [0, 1] });
      const kinds = new Set<string>();
      for (let after = 0; after < whole.passed[direction]; after++) {
        const { bound, outcomes, delivered, ended, seen, passed } = await exchange({ direction, after });
        expect(passed[direction]).toBe(after);
        expect(ended).toBe(bound);
        expect(outcomes).toHaveLength(bound ? 2 : 0);
        expect(delivered).toBeLessThanOrEqual(1);
        outcomes.forEach((kind, number) => {
          kinds.add(kind);
          // A submit that was seen and is called "not sent" would be sent twice. One that was not seen is never
          // "answered".
          if (kind === 'not-sent') expect(seen).not.toContain(number);
          if (kind === 'answered') expect(seen).toContain(number);
        });
      }
      expect([...kinds]).toEqual(expect.arrayContaining(['unknown', 'answered']));
    },
  );

  test('a connection that delivers octet by octet changes nothing', async () => {
    const { passed, ...whole } = await exchange();
    expect(await exchange(undefined, true)).toEqual({ ...whole, passed });
  });
});

describe('an impossible length', () => {
  test.each([0, 4, 15, 65_537, 2 ** 31 - 1, 2 ** 32 - 1])('%d ends the bind with its reason', async (length) => {
    smsc.onSubmit = () => {};
    const bind = await openBind(smsc.port);
    const submit = bind.submit(aMessage());
    await smsc.submitted(1);
    const octets = Buffer.alloc(16);
    octets.writeUInt32BE(length);
    smsc.connection.sendOctets(octets);
    const reason = `command_length ${length} is not within 16..65536`;
    expect(await bind.ended).toEqual({ reason, orderly: false });
    expect(await submit).toMatchObject({ kind: 'unknown', reason });
    await until(() => smsc.connections[0]?.closed);
  });
});

describe('random octets', () => {
  /** Ends a bind whose peer misbehaved. Everything it holds is settled. */
  async function afterwards(bind: SmppBind): Promise<void> {
    const submit = bind.submit(aMessage());
    bind.destroy('the test is over');
    expect(['not-sent', 'unknown', 'answered']).toContain((await submit).kind);
    await bind.ended;
  }

  test('after the bind hurt nobody', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 5 }), async (chunks) => {
        const bind = await openBind(smsc.port);
        const { connection } = smsc;
        for (const chunk of chunks) connection.sendOctets(chunk);
        await Promise.race([bind.ended, new Promise(setImmediate)]);
        await afterwards(bind);
        await until(() => connection.closed);
      }),
      { numRuns: 40 },
    );
  });

  test('in correctly framed bodies of every command leave the bind alive', async () => {
    const bind = await openBind(smsc.port, { clock: new FakeClock() });
    const commands = [
      1, 2, 4, 5, 9, 0x15, 0x103, 0x80000000, 0x80000001, 0x80000004, 0x80000005, 0x80000009, 0x80000015,
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...commands),
        fc.uint8Array({ maxLength: 90 }),
        fc.nat(),
        (commandId, body, status) => {
          smsc.connection.send({ command: 'unknown', commandId, status, sequence: 0x7000_0000, body });
        },
      ),
      { numRuns: 500 },
    );
    await smsc.connection.enquire();
    expect(bind.open).toBe(true);
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'answered' });
  });
});
