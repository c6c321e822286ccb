import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SystemClock } from '../../src/common/clock.js';
import { UuidGenerator } from '../../src/common/ids.js';
import type { OutgoingSms, SubmitResult } from '../../src/sms/sms-transport.js';
import { SMPP_SESSION_DEFAULTS } from '../../src/transports/smpp/session/session-settings.js';
import { SmppSession } from '../../src/transports/smpp/session/smpp-session.js';
import type { SmppLinkOptions } from '../../src/transports/smpp/smpp-options.js';
import { SmppSmsTransport } from '../../src/transports/smpp/smpp-sms-transport.js';
import { hasNetSmpp, NetSmpp, type NetSmppScript } from '../support/carriers/net-smpp.js';
import { closeAfterEach } from '../support/opened.js';
import { RecordingSink } from '../support/recording-sink.js';
import { manySms, smsOf } from '../support/smpp-world.js';
import { until } from '../support/until.js';

const suite = hasNetSmpp() ? describe : describe.skip;

suite('Net::SMPP as the carrier', () => {
  const opened = closeAfterEach();
  const clock = new SystemClock();

  beforeAll(() => Logger.overrideLogger(false));

  /** A transport, which is quick to lose patience, and its carrier. */
  async function carrying(script: NetSmppScript, link: Partial<SmppLinkOptions> = {}) {
    const smsc = opened(await NetSmpp.start(script));
    const account = { host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' };
    const quick = { reconnectMs: 10, reconnectMaxMs: 50, throttlePauseMs: 1 };
    const transport = new SmppSmsTransport({ links: [{ ...account, ...quick, ...link }] }, clock, new UuidGenerator());
    const sink = new RecordingSink();
    await transport.start(sink);
    opened({ close: () => transport.stop() });
    const submit = async (sms: readonly OutgoingSms[]) => {
      const results = await transport.submit(sms, new AbortController().signal);
      await smsc.caughtUp();
      return results;
    };
    return { smsc, sink, transport, submit };
  }

  const kinds = (results: readonly SubmitResult[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { kind } of results) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  };

  /** Each was submitted once at the most, and each that is said to be sent was taken. */
  function expectNoneTwice(smsc: NetSmpp, sms: readonly OutgoingSms[], results: readonly SubmitResult[]): void {
    const times = smsc.takenTimes();
    expect(Math.max(...times.values())).toBe(1);
    const sent = sms.filter((_, index) => results[index]?.kind === 'sent');
    expect(sent.filter(({ number }) => times.get(number) !== 1)).toEqual([]);
  }

  /** Each SMS that was sent has its own receipt, under the id of its answer. */
  function expectReceipts(sink: RecordingSink, sms: readonly OutgoingSms[], results: readonly SubmitResult[]): void {
    const found = sms.map((_, index) => {
      const [id = ''] = results[index]?.carrierIds ?? [];
      return sink.receipts_.filter(({ ids }) => ids.includes(id)).map(({ number, status }) => ({ number, status }));
    });
    expect(found).toEqual(sms.map(({ number }) => [{ number, status: 'delivered' }]));
  }

  describe('in good order', () => {
    test.each<[string, NetSmppScript, Partial<SmppLinkOptions>]>([
      ['as text and parameters', {}, {}],
      ['as text', { receipts: 'text' }, {}],
      ['as parameters', { receipts: 'tlv' }, {}],
      ['as data_sm', { receipts: 'data_sm' }, {}],
      ['with a decimal id after one in hexadecimal', { answerIds: 'hex' }, { messageIds: 'hex-then-decimal' }],
      ['before the answer', { receiptFirst: true }, {}],
    ])('receipts come %s, each is for its SMS', async (_, script, link) => {
      const { smsc, sink, submit } = await carrying(script, link);
      const sms = manySms(50);
      const results = await submit(sms);
      expect(kinds(results)).toEqual({ sent: 50 });
      await smsc.happened('receipt', 50);
      expectReceipts(sink, sms, results);
      expectNoneTwice(smsc, sms, results);
      expect(smsc.all('receipt').every(({ status }) => status === 0)).toBe(true);
    });

    test('a receipt that could not be stored comes again', async () => {
      const { smsc, sink, submit } = await carrying({});
      sink.open = false;
      await submit(manySms(1));
      await smsc.happened('receipt', 1);
      expect(smsc.all('receipt')).toMatchObject([{ status: 0x64 }]);
      sink.open = true;
      await submit(smsOf('Bonjour', 'Bonsoir').slice(1));
      await until(() => sink.receipts_.length === 2);
      expect(sink.receipts_.map(({ number }) => number)).toEqual(['22670000000', '22670000001']);
    });

    test('asks whether we live, and is told so', async () => {
      const { smsc, submit } = await carrying({ enquireEvery: 4 });
      expect(kinds(await submit(manySms(40)))).toEqual({ sent: 40 });
      await smsc.happened('alive', 10);
      expect(smsc.all('bind')).toHaveLength(1);
    });

    test('refuses a wrong password', async () => {
      const smsc = opened(await NetSmpp.start());
      const settings = { ...SMPP_SESSION_DEFAULTS, host: '127.0.0.1', port: smsc.port, systemId: 'client' };
      const binding = SmppSession.open({ ...settings, password: 'guess' }, { deliver: async () => {} }, clock);
      await expect(binding).rejects.toMatchObject({ name: 'SessionBindError', status: 0x0e });
      await smsc.caughtUp();
      expect(smsc.all('bind')).toMatchObject([{ status: 0x0e, system_id: 'client', version: 0x34 }]);
    });

    test('is left in good order', async () => {
      const { smsc, transport, submit } = await carrying({});
      await submit(manySms(1));
      await transport.stop();
      await smsc.happened('unbind', 1);
    });
  });

  describe('reads what we write:', () => {
    const hex = (pattern: string) => expect.stringMatching(new RegExp(`^${pattern}$`));
    const TWO_PARTS = 'a'.repeat(161);

    test.each<[string, string, Partial<SmppLinkOptions>, readonly object[]]>([
      [
        'a text, field by field',
        'é@€',
        { serviceType: 'CMT' },
        [
          {
            ...{ source_addr: 'INFOS', source_addr_ton: 5, source_addr_npi: 0 },
            ...{ destination_addr: '22670000000', dest_addr_ton: 1, dest_addr_npi: 1 },
            ...{ esm_class: 0, protocol_id: 0, priority_flag: 0, registered_delivery: 1, replace_if_present_flag: 0 },
            ...{ data_coding: 0, sm_default_msg_id: 0, service_type: 'CMT', schedule_delivery_time: '' },
            ...{ validity_period: '', short_message: '05001b65' },
          },
        ],
      ],
      ['UCS-2', 'ê😀', {}, [{ data_coding: 8, short_message: '00ead83dde00' }]],
      ['Latin-1', 'é@', { defaultAlphabet: 'latin1', dataCoding: 3 }, [{ data_coding: 3, short_message: 'e940' }]],
      [
        'parts with references of 8 bits',
        TWO_PARTS,
        {},
        [
          { esm_class: 0x40, short_message: hex('050003..0201(61){153}') },
          { esm_class: 0x40, short_message: hex('050003..0202(61){8}') },
        ],
      ],
      [
        'parts with references of 16 bits',
        TWO_PARTS,
        { longMessages: 'udh16' },
        [
          { esm_class: 0x40, short_message: hex('060804....0201(61){152}') },
          { esm_class: 0x40, short_message: hex('060804....0202(61){9}') },
        ],
      ],
      [
        'parts told by parameters',
        TWO_PARTS,
        { longMessages: 'sar' },
        [
          {
            ...{ esm_class: 0, short_message: hex('(61){153}') },
            ...{ sar_msg_ref_num: hex('....'), sar_total_segments: '02', sar_segment_seqnum: '01' },
          },
          { short_message: hex('(61){8}'), sar_total_segments: '02', sar_segment_seqnum: '02' },
        ],
      ],
      [
        'a long text in one',
        TWO_PARTS,
        { longMessages: 'payload' },
        [{ esm_class: 0, short_message: '', message_payload: hex('(61){161}') }],
      ],
    ])('%s', async (_, text, link, pdus) => {
      const { smsc, submit } = await carrying({}, link);
      expect(kinds(await submit(smsOf(text)))).toEqual({ sent: 1 });
      const read = smsc.all('submit').map(({ pdu }) => pdu);
      expect(read).toEqual(pdus.map((pdu) => expect.objectContaining(pdu)));
    });
  });

  describe('out of order', () => {
    test('throttles every fifth: each is sent once in the end', async () => {
      const { smsc, sink, submit } = await carrying({ throttleEvery: 5 });
      const sms = manySms(200);
      const results = await submit(sms);
      expect(kinds(results)).toEqual({ sent: 200 });
      // Of 249, that 200 are taken.
      expect(smsc.count('throttled')).toBe(49);
      await smsc.happened('receipt', 200);
      expectReceipts(sink, sms, results);
      expectNoneTwice(smsc, sms, results);
    });

    test('falls silent: what it had is unknown, and nothing is submitted twice', async () => {
      const { smsc, submit } = await carrying({ silentFrom: 21 }, { responseTimeoutMs: 500 });
      const sms = manySms(31);
      const results = await submit(sms);
      expect(kinds(results)).toEqual({ sent: 20, unknown: 11 });
      expectNoneTwice(smsc, sms, results);
    });

    test.each<[string, NetSmppScript, 'dropped' | 'garbage']>([
      ['hangs up in the middle of an answer', { dropEvery: 13 }, 'dropped'],
      ['answers with a length that is none', { garbageEvery: 13 }, 'garbage'],
    ])('%s: each is sent or unknown, and none was submitted twice', async (_, script, fault) => {
      const { smsc, submit } = await carrying(script);
      const sms = manySms(200);
      const results = await submit(sms);
      const { sent = 0, unknown = 0, ...others } = kinds(results);
      expect(others).toEqual({});
      expect(sent + unknown).toBe(200);
      expect(smsc.count(fault)).toBeGreaterThanOrEqual(6);
      expect(unknown).toBeGreaterThanOrEqual(smsc.count(fault));
      // At the most what was on the wire each time.
      expect(unknown).toBeLessThanOrEqual(smsc.count(fault) * 10);
      expectNoneTwice(smsc, sms, results);
    });
  });
});
