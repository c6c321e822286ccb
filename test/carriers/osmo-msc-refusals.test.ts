import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SystemClock } from '../../src/common/clock.js';
import { UuidGenerator } from '../../src/common/ids.js';
import { SMPP_BIND_DEFAULTS, type SmppBindSettings } from '../../src/transports/smpp/bind/bind-settings.js';
import { BindWire } from '../../src/transports/smpp/bind/bind-wire.js';
import { SmppBind } from '../../src/transports/smpp/bind/smpp-bind.js';
import type { Pdu, ShortMessage } from '../../src/transports/smpp/pdu/pdu.js';
import { TAG } from '../../src/transports/smpp/pdu/tlv.js';
import { SmppSmsTransport } from '../../src/transports/smpp/smpp-sms-transport.js';
import { until } from '../support/common/until.js';
import { hasOsmoMsc, OsmoMsc } from '../support/transports/carriers/osmo-msc.js';
import { RecordingSink } from '../support/transports/recording-sink.js';
import { manySms, smsOf } from '../support/transports/smpp-fixture.js';
import { aMessage } from '../support/transports/smsc/open-bind.js';

const QUERY_SM = 0x00000003;
const suite = hasOsmoMsc() ? describe : describe.skip;

suite('OsmoMSC', () => {
  const clock = new SystemClock();
  const open: { destroy(reason: string): void }[] = [];
  let osmo: OsmoMsc;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    osmo = await OsmoMsc.start({ client: 'secret' });
  });
  afterEach(() => {
    osmo.thaw();
    for (const each of open.splice(0)) each.destroy('the test is over');
  });
  afterAll(() => osmo.stop());

  const settings = (more: Partial<SmppBindSettings> = {}): SmppBindSettings => ({
    ...SMPP_BIND_DEFAULTS,
    host: osmo.host,
    port: osmo.port,
    systemId: 'client',
    password: 'secret',
    ...more,
  });

  async function bind(more: Partial<SmppBindSettings> = {}): Promise<SmppBind> {
    const bound = await SmppBind.open(settings(more), { deliver: async () => {} }, clock);
    open.push(bound);
    return bound;
  }

  describe('refuses to bind', () => {
    test.each([
      ['a wrong password', { password: 'guess' }, 0x0e],
      ['an unknown system id', { systemId: 'nobody' }, 0x0f],
    ] as const)('%s', async (_, more, status) => {
      await expect(bind(more)).rejects.toMatchObject({ name: 'BindError', status });
    });
  });

  describe('refuses to take', () => {
    test.each<[string, Partial<ShortMessage>, number]>([
      ['Latin-1', { dataCoding: 3 }, 0xff],
      ['a text in two places', { tlvs: [{ tag: TAG.messagePayload, value: Buffer.from('too') }] }, 0xc1],
      ['no text', { shortMessage: new Uint8Array(0) }, 0xc2],
      ['a text that an absent phone would have to answer now', { esmClass: 2 }, 0x0b],
    ])('%s, and accepts the next', async (_, more, status) => {
      const bound = await bind();
      expect(await bound.submit({ ...aMessage(), ...more })).toMatchObject({ kind: 'answered', status });
      expect(await bound.submit(aMessage())).toMatchObject({ kind: 'answered', status: 0 });
    });

    test('and the transport reports these results', async () => {
      const links = [{ host: osmo.host, port: osmo.port, systemId: 'client', password: 'secret', dataCoding: 3 }];
      const transport = new SmppSmsTransport({ links }, clock, new UuidGenerator());
      await transport.start(new RecordingSink());
      const [first, last] = smsOf('Bonjour', 'Bonsoir');
      const third = last && { ...last, attempt: 3 };
      expect(await transport.submit(first && third ? [first, third] : [], new AbortController().signal)).toMatchObject([
        { kind: 'retry', error: 'smpp: 0xff' },
        { kind: 'refused', error: 'smpp: 0xff' },
      ]);
      await transport.stop();
    });
  });

  describe('and a line without a bind', () => {
    /** A connection on which the test can send any PDU, in any order. */
    async function line(): Promise<{ ask(pdu: Pdu): Promise<Pdu>; say(pdu: Pdu): void; readonly heard: Pdu[] }> {
      const heard: Pdu[] = [];
      let connected = false;
      const wire = new BindWire(settings(), clock, {
        connected: () => {
          connected = true;
        },
        pdu: (pdu) => heard.push(pdu),
        malformed: () => {},
        drained: () => {},
        lost: () => {},
      });
      open.push({ destroy: () => wire.destroy() });
      await until(() => connected);
      const ask = async (pdu: Pdu): Promise<Pdu> => {
        wire.send(pdu);
        return until(() => heard.find(({ sequence }) => sequence === pdu.sequence) as Pdu);
      };
      return { ask, say: (pdu) => wire.send(pdu), heard };
    }

    const bind = (sequence: number): Pdu => ({
      command: 'bind_transceiver',
      status: 0,
      sequence,
      systemId: 'client',
      password: 'secret',
      systemType: '',
      interfaceVersion: 0x34,
      addressRange: { ton: 0, npi: 0, address: '' },
    });

    test('refuses a submit before the bind, and a second bind', async () => {
      const { ask } = await line();
      const submit: Pdu = { command: 'submit_sm', status: 0, sequence: 1, ...aMessage() };
      expect(await ask(submit)).toMatchObject({ command: 'submit_sm_resp', status: 0x04 });
      expect(await ask(bind(2))).toMatchObject({ command: 'bind_transceiver_resp', status: 0 });
      expect(await ask(bind(3))).toMatchObject({ command: 'bind_transceiver_resp', status: 0x05 });
      expect(await ask({ ...submit, sequence: 4 })).toMatchObject({ status: 0 });
      expect(await ask({ command: 'unbind', status: 0, sequence: 5 })).toMatchObject({ command: 'unbind_resp' });
    });

    test('never answers a query, nor a bind with a version that it does not know', async () => {
      const { ask, say, heard } = await line();
      say({ ...bind(1), interfaceVersion: 0x50 } as Pdu);
      expect(await ask(bind(2))).toMatchObject({ status: 0 });
      say({ command: 'unknown', commandId: QUERY_SM, status: 0, sequence: 3, body: Buffer.from('1\0\0\0\0') });
      expect(await ask({ command: 'enquire_link', status: 0, sequence: 4 })).toMatchObject({
        command: 'enquire_link_resp',
      });
      expect(heard.map(({ sequence }) => sequence)).toEqual([2, 4]);
    });
  });

  describe('when it stands still', () => {
    test('a bind is given up', async () => {
      osmo.freeze();
      await expect(bind({ bindTimeoutMs: 200 })).rejects.toMatchObject({
        name: 'BindError',
        message: expect.stringContaining('in time'),
      });
    });

    test('a submit is unknown, and its late answer is still used', async () => {
      const bound = await bind({ responseTimeoutMs: 200, maxMisses: 1000 });
      osmo.freeze();
      const outcome = await bound.submit(aMessage(1));
      osmo.thaw();
      if (outcome.kind !== 'unknown') throw new Error(`It is ${outcome.kind}.`);
      expect(await outcome.late).toMatchObject({ status: 0 });
      expect(osmo.stored(aMessage(1).destination.address)).toHaveLength(1);
      expect(bound.open).toBe(true);
    });

    test('the bind is over after two enquire_links', async () => {
      const bound = await bind({ responseTimeoutMs: 200 });
      osmo.freeze();
      expect(await bound.submit(aMessage())).toMatchObject({ kind: 'unknown' });
      expect(await bound.ended).toEqual({ reason: 'the SMSC is silent', orderly: false });
    });

    test('submits on the wire are unknown, all others are sent later, and no SMS arrives twice', async () => {
      const quick = { responseTimeoutMs: 500, bindTimeoutMs: 500, reconnectMs: 20, reconnectMaxMs: 50 };
      const links = [{ host: osmo.host, port: osmo.port, systemId: 'client', password: 'secret', ...quick }];
      const transport = new SmppSmsTransport({ links }, clock, new UuidGenerator());
      await transport.start(new RecordingSink());
      const submit = (from: number, to: number) =>
        transport.submit(manySms(30).slice(from, to), new AbortController().signal);
      expect((await submit(0, 10)).map(({ kind }) => kind)).toEqual(Array(10).fill('sent'));
      osmo.freeze();
      expect((await submit(10, 20)).map(({ kind }) => kind)).toEqual(Array(10).fill('unknown'));
      const last = submit(20, 30);
      osmo.thaw();
      expect((await last).map(({ kind }) => kind)).toEqual(Array(10).fill('sent'));
      await transport.stop();
      const times = manySms(30).map(({ number }) => osmo.stored(number).length);
      expect(times.slice(0, 10)).toEqual(Array(10).fill(1));
      expect(Math.max(...times.slice(10, 20))).toBeLessThanOrEqual(1);
      expect(times.slice(20)).toEqual(Array(10).fill(1));
    });
  });
});
