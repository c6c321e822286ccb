import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SystemClock } from '../../src/common/clock.js';
import { SMPP_BIND_DEFAULTS } from '../../src/transports/smpp/bind/bind-settings.js';
import { SmppBind } from '../../src/transports/smpp/bind/smpp-bind.js';
import type { SmppLinkOptions } from '../../src/transports/smpp/smpp-options.js';
import { closeAfterEach } from '../support/common/opened.js';
import { until } from '../support/common/until.js';
import { hasNetSmpp, NetSmpp, type NetSmppScript } from '../support/transports/carriers/net-smpp.js';
import { kindsOf, NetSmppCarriage } from '../support/transports/carriers/net-smpp-carriage.js';
import { manySms, smsOf } from '../support/transports/smpp-fixture.js';

const suite = hasNetSmpp() ? describe : describe.skip;

suite('Net::SMPP as the carrier', () => {
  const opened = closeAfterEach();
  const clock = new SystemClock();

  beforeAll(() => Logger.overrideLogger(false));

  const carrying = async (script: NetSmppScript, link: Partial<SmppLinkOptions> = {}) =>
    opened(await NetSmppCarriage.start(script, link));

  describe('in good order', () => {
    test.each<[string, NetSmppScript, Partial<SmppLinkOptions>]>([
      ['as text and parameters', {}, {}],
      ['as text', { receipts: 'text' }, {}],
      ['as parameters', { receipts: 'tlv' }, {}],
      ['as data_sm', { receipts: 'data_sm' }, {}],
      ['with a decimal id after one in hexadecimal', { answerIds: 'hex' }, { messageIds: 'hex-then-decimal' }],
      ['before the answer', { receiptFirst: true }, {}],
    ])('sends receipts %s, each for its SMS', async (_, script, link) => {
      const carriage = await carrying(script, link);
      const sms = manySms(50);
      const results = await carriage.submit(sms);
      expect(kindsOf(results)).toEqual({ sent: 50 });
      await carriage.smsc.happened('receipt', 50);
      carriage.expectReceipts(sms, results);
      carriage.expectNoneTwice(sms, results);
      expect(carriage.smsc.all('receipt').every(({ status }) => status === 0)).toBe(true);
    });

    test('repeats a receipt that could not be stored', async () => {
      const carriage = await carrying({});
      carriage.sink.open = false;
      await carriage.submit(manySms(1));
      await carriage.smsc.happened('receipt', 1);
      expect(carriage.smsc.all('receipt')).toMatchObject([{ status: 0x64 }]);
      carriage.sink.open = true;
      await carriage.submit(smsOf('Bonjour', 'Bonsoir').slice(1));
      await until(() => carriage.sink.receipts_.length === 2);
      expect(carriage.sink.receipts_.map(({ number }) => number)).toEqual(['22670000000', '22670000001']);
    });

    test('sends an enquire_link and gets our answer', async () => {
      const carriage = await carrying({ enquireEvery: 4 });
      expect(kindsOf(await carriage.submit(manySms(40)))).toEqual({ sent: 40 });
      await carriage.smsc.happened('alive', 10);
      expect(carriage.smsc.all('bind')).toHaveLength(1);
    });

    test('refuses a wrong password', async () => {
      const smsc = opened(await NetSmpp.start());
      const settings = { ...SMPP_BIND_DEFAULTS, host: '127.0.0.1', port: smsc.port, systemId: 'client' };
      const binding = SmppBind.open({ ...settings, password: 'guess' }, { deliver: async () => {} }, clock);
      await expect(binding).rejects.toMatchObject({ name: 'BindError', status: 0x0e });
      await smsc.caughtUp();
      expect(smsc.all('bind')).toMatchObject([{ status: 0x0e, system_id: 'client', version: 0x34 }]);
    });

    test('is left in good order', async () => {
      const carriage = await carrying({});
      await carriage.submit(manySms(1));
      await carriage.stop();
      await carriage.smsc.happened('unbind', 1);
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
            source_addr: 'INFOS',
            source_addr_ton: 5,
            source_addr_npi: 0,
            destination_addr: '22670000000',
            dest_addr_ton: 1,
            dest_addr_npi: 1,
            esm_class: 0,
            protocol_id: 0,
            priority_flag: 0,
            registered_delivery: 1,
            replace_if_present_flag: 0,
            data_coding: 0,
            sm_default_msg_id: 0,
            service_type: 'CMT',
            schedule_delivery_time: '',
            validity_period: '',
            short_message: '05001b65',
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
        'parts marked by parameters',
        TWO_PARTS,
        { longMessages: 'sar' },
        [
          {
            esm_class: 0,
            short_message: hex('(61){153}'),
            sar_msg_ref_num: hex('....'),
            sar_total_segments: '02',
            sar_segment_seqnum: '01',
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
      const carriage = await carrying({}, link);
      expect(kindsOf(await carriage.submit(smsOf(text)))).toEqual({ sent: 1 });
      const read = carriage.smsc.all('submit').map(({ pdu }) => pdu);
      expect(read).toEqual(pdus.map((pdu) => expect.objectContaining(pdu)));
    });
  });
});
