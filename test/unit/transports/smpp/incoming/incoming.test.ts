import { inspect } from 'node:util';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { encodeGsm7 } from '../../../../../src/sms/segmentation.js';
import type { InboundSms } from '../../../../../src/sms/sms-transport.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';
import { TAG } from '../../../../../src/transports/smpp/pdu/tlv.js';
import type { SmppLinkOptions } from '../../../../../src/transports/smpp/smpp-options.js';
import { smppFixture, smsOf } from '../../../../support/transports/smpp-fixture.js';
import { receiptOf } from '../../../../support/transports/smsc/receipt.js';
import type { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';

beforeAll(() => Logger.overrideLogger(false));

const fixture = smppFixture();

async function bound(link: Omit<Partial<SmppLinkOptions>, 'port'> = {}): Promise<TestSmsc> {
  const smsc = await fixture().smsc();
  await fixture().start([{ port: smsc.port, route: 'acme', ...link }]);
  await fixture().until(() => smsc.connections[0]?.bind !== undefined);
  return smsc;
}

/** A text from a phone. */
const inbound = (text: string | Uint8Array, more: Partial<ShortMessage> = {}): ShortMessage => ({
  ...PLAIN_SHORT_MESSAGE,
  source: { ton: 1, npi: 1, address: '22670000000' },
  destination: { ton: 3, npi: 0, address: '888' },
  shortMessage: typeof text === 'string' ? encodeGsm7(text) : text,
  ...more,
});

const asked = async (smsc: TestSmsc, message: ShortMessage) => (await smsc.connection.deliver(message)).status;
const stop: Partial<InboundSms> = { route: 'acme', from: '22670000000', to: '888', text: 'STOP' };

describe('receipts', () => {
  test.each([
    ['decimal', 'same'],
    ['hex', 'decimal-then-hex'],
    ['padded-upper-hex', 'decimal-then-hex'],
    ['padded-decimal', 'same'],
  ] as const)('with a %s id are matched with the id of the answer (%s)', async (format, messageIds) => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, route: 'acme', messageIds }]);
    const [result] = await fixture().results(transport, smsOf('Bonjour'));
    const [submit] = smsc.submits;
    expect(await submit?.receipt({ id: submit.idAs(format) })).toBe(0);
    const [receipt] = fixture().sink.receipts_;
    expect(receipt).toMatchObject({ route: 'acme', status: 'delivered', number: '22670000000' });
    expect(receipt?.ids).toContain(result?.carrierIds?.[0]);
  });

  test('with an unknown state are marked, and the log names the state but neither text nor number', async () => {
    const smsc = await bound();
    const logged: string[] = [];
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => {
      logged.push(inspect(line));
    });
    const text = 'id:7 stat:P-22670000000 err:001 text:Geheim';
    const receipt = inbound('', { esmClass: 0x04, shortMessage: Buffer.from(text, 'latin1') });
    expect([await asked(smsc, receipt), await asked(smsc, receipt)]).toEqual([0, 0]);
    warn.mockRestore();
    expect(fixture().sink.receipts_).toMatchObject([
      { status: 'sent', unread: true },
      { status: 'sent', unread: true },
    ]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('The option receiptStates says what it means');
    expect(logged[0]).not.toMatch(/Geheim|22670000000/);
  });

  test('name both addresses if both are numbers, because not every carrier exchanges them', async () => {
    const smsc = await bound();
    const receipt = inbound(Buffer.from('id:1 stat:UNDELIV err:001', 'latin1'), { esmClass: 4 });
    await asked(smsc, { ...receipt, source: { ton: 1, npi: 1, address: '22670990000' }, destination: receipt.source });
    await asked(smsc, receipt);
    expect(fixture().sink.receipts_).toMatchObject([
      { number: '22670990000', otherNumber: '22670000000' },
      { number: '22670000000' },
    ]);
    expect(fixture().sink.receipts_[1]).not.toHaveProperty('otherNumber');
  });

  test('with texts in both short_message and message_payload are read from the longer one', async () => {
    const smsc = await bound();
    const payload = (text: string) => [{ tag: TAG.messagePayload, value: encodeGsm7(text) }];
    await asked(smsc, inbound('Bonj', { tlvs: payload('Bonjour') }));
    await asked(smsc, inbound('Bonsoir', { tlvs: payload('B') }));
    expect(fixture().sink.texts.map(({ text }) => text)).toEqual(['Bonjour', 'Bonsoir']);
  });

  test('from a carrier that answers in hexadecimal are matched', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = (submit) => submit.answer({ messageId: submit.idAs('upper-hex') });
    const transport = await fixture().start([{ port: smsc.port, messageIds: 'hex-then-decimal' }]);
    const [result] = await fixture().results(transport, smsOf('Bonjour'));
    await smsc.submits[0]?.receipt({ in: 'text' });
    expect(fixture().sink.receipts_[0]?.ids).toContain(result?.carrierIds?.[0]);
  });

  test.each(['text', 'tlvs', 'both'] as const)('may come as data_sm too (%s)', async (where) => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, route: 'acme' }]);
    const [result] = await fixture().results(transport, smsOf('Bonjour'));
    const [submit] = smsc.submits;
    const receipt = submit && receiptOf(submit.pdu, { id: submit.idAs('decimal'), in: where, state: 'UNDELIV' });
    expect(receipt && (await smsc.connection.data(receipt))).toMatchObject({ command: 'data_sm_resp', status: 0 });
    expect(fixture().sink.receipts_).toMatchObject([{ route: 'acme', status: 'undelivered', number: '22670000000' }]);
    expect(fixture().sink.receipts_[0]?.ids).toContain(result?.carrierIds?.[0]);
  });

  test('may overtake the answer and are still handed in', async () => {
    const smsc = await fixture().smsc({ onSubmit: () => {} });
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = fixture().submit(transport, smsOf('Bonjour'));
    await fixture().until(() => smsc.submits.length === 1);
    expect(await smsc.submits[0]?.receipt()).toBe(0);
    expect(fixture().sink.receipts_).toMatchObject([{ ids: expect.arrayContaining(['870928761']) }]);
    smsc.submits[0]?.answer();
    expect(await fixture().settled(results)).toMatchObject([{ kind: 'sent', carrierIds: ['870928761'] }]);
  });

  test('are acknowledged only once they are stored; otherwise the carrier must repeat them', async () => {
    const smsc = await bound();
    const receipt = inbound(Buffer.from('id:1 stat:DELIVRD err:000', 'latin1'), { esmClass: 4 });
    fixture().sink.open = false;
    expect(await asked(smsc, receipt)).toBe(0x64);
    fixture().sink.open = true;
    expect(await asked(smsc, receipt)).toBe(0);
    expect(fixture().sink.receipts_).toHaveLength(1);
  });

  test('that say nothing, and unsolicited acknowledgements, are accepted and ignored', async () => {
    const smsc = await bound();
    expect(await asked(smsc, inbound('Bonjour', { esmClass: 4 }))).toBe(0);
    expect(await asked(smsc, inbound('id:1 stat:DELIVRD', { esmClass: 0x08 }))).toBe(0);
    expect([fixture().sink.receipts_, fixture().sink.texts]).toEqual([[], []]);
  });
});

describe('receipts that only their text marks', () => {
  const unmarked = (smsc: TestSmsc) => {
    const [submit] = smsc.submits;
    if (!submit) throw new Error('Nothing was submitted.');
    return { ...receiptOf(submit.pdu, { id: submit.idAs('decimal'), in: 'text' }), esmClass: 0 };
  };

  test('are matched with the id of the answer on a link with unmarkedReceipts, on which a person’s text stays a text', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, route: 'acme', unmarkedReceipts: true }]);
    const [result] = await fixture().results(transport, smsOf('Bonjour'));
    expect(await asked(smsc, unmarked(smsc))).toBe(0);
    expect(fixture().sink.receipts_).toMatchObject([{ route: 'acme', status: 'delivered', number: '22670000000' }]);
    expect(fixture().sink.receipts_[0]?.ids).toContain(result?.carrierIds?.[0]);
    expect(await asked(smsc, inbound('STOP'))).toBe(0);
    expect(fixture().sink.texts).toMatchObject([stop]);
    expect(fixture().sink.receipts_).toHaveLength(1);
  });

  test('are texts on every other link', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, route: 'acme' }]);
    await fixture().results(transport, smsOf('Bonjour'));
    expect(await asked(smsc, unmarked(smsc))).toBe(0);
    expect(fixture().sink.receipts_).toEqual([]);
    expect(fixture().sink.texts).toMatchObject([{ route: 'acme', text: expect.stringMatching(/^id:/) }]);
  });
});

describe('texts from phones', () => {
  test.each<[string, ShortMessage]>([
    ['GSM-7', inbound('STOP')],
    ['UTF-16BE', inbound(Buffer.from('STOP', 'utf16le').swap16(), { dataCoding: 8 })],
    ['Latin-1', inbound(Buffer.from('STOP', 'latin1'), { dataCoding: 3 })],
    ['of an unknown type of number', inbound('STOP', { source: { ton: 0, npi: 1, address: '+22670000000' } })],
    ['to a number with a plus sign', inbound('STOP', { destination: { ton: 1, npi: 1, address: '+888' } })],
  ])('%s', async (_, message) => {
    const smsc = await bound();
    expect(await asked(smsc, message)).toBe(0);
    expect(fixture().sink.texts).toMatchObject([stop]);
  });

  test('may come as data_sm too, with any length', async () => {
    const smsc = await bound();
    const text = 'STOP '.repeat(80).trim();
    expect(await smsc.connection.data(inbound(text))).toMatchObject({ command: 'data_sm_resp', status: 0 });
    expect(fixture().sink.texts).toMatchObject([{ ...stop, text }]);
  });

  test('of several parts come part by part, each with its position; the last one is acknowledged only once it is stored', async () => {
    const smsc = await bound();
    const part = (number: number, text: string) =>
      inbound(Buffer.concat([Uint8Array.of(5, 0, 3, 9, 2, number), encodeGsm7(text)]), { esmClass: 0x40 });
    const place = (number: number) => ({ reference: '8:9', total: 2, number });
    expect(await asked(smsc, part(1, 'ST'))).toBe(0);
    fixture().sink.open = false;
    expect(await asked(smsc, part(2, 'OP'))).toBe(0x64);
    fixture().sink.open = true;
    expect(await asked(smsc, part(2, 'OP'))).toBe(0);
    expect(fixture().sink.texts).toEqual([
      { ...stop, text: 'ST', part: place(1) },
      { ...stop, text: 'OP', part: place(2) },
    ]);
  });

  test('that the carrier repeats on its next connection have one key, and those that a phone repeats have two', async () => {
    const smsc = await bound();
    const keys = () => fixture().sink.texts.map(({ key }) => key);
    await asked(smsc, inbound('OK'));
    await asked(smsc, inbound('OK'));
    expect(new Set(keys()).size).toBe(2);
    smsc.connection.drop();
    await fixture().until(
      () => smsc.connections.at(-1) !== smsc.connections[0] && smsc.connections.at(-1)?.bind !== undefined,
    );
    expect(await asked(smsc, inbound('OK'))).toBe(0);
    expect(keys()[2]).toBe(keys()[1]);
    await asked(smsc, inbound('OK'));
    expect(new Set(keys()).size).toBe(3);
  });

  test('keep the half of an emoji whose other half is in the next part', async () => {
    const smsc = await bound();
    const half = (number: number, octets: string) => {
      const shortMessage = Buffer.from(`0500032a020${number}${octets}`, 'hex');
      return inbound(shortMessage, { esmClass: 0x40, dataCoding: 8 });
    };
    await asked(smsc, half(2, 'de000042'));
    await asked(smsc, half(1, '0041d83d'));
    expect(fixture().sink.texts.map(({ text }) => text)).toEqual(['\ude00B', 'A\ud83d']);
  });

  test.each<[string, ShortMessage]>([
    ['from a name', inbound('Pub', { source: { ton: 5, npi: 0, address: 'ORANGE' } })],
    ['from a short code', inbound('Pub', { source: { ton: 3, npi: 0, address: '36111' } })],
    ['that are not text', inbound(Uint8Array.of(0, 255), { dataCoding: 4 })],
  ])('%s are accepted and ignored', async (_, message) => {
    const smsc = await bound();
    expect(await asked(smsc, message)).toBe(0);
    expect(fixture().sink.texts).toEqual([]);
  });

  test.each([5, 6, 7, 9, 10, 13, 14])(
    'in the alphabet of data_coding %i are read, from deliver_sm and data_sm',
    async (dataCoding) => {
      const smsc = await bound();
      const text = inbound(Buffer.from('STOP'), { dataCoding });
      expect(await asked(smsc, text)).toBe(0);
      expect(await smsc.connection.data(text)).toMatchObject({ command: 'data_sm_resp', status: 0 });
      expect(fixture().sink.texts).toMatchObject([stop, stop]);
    },
  );

  test.each([2, 4, 0xf5])(
    'that are data of data_coding %i are logged once, without number and content',
    async (dataCoding) => {
      const smsc = await bound();
      const logged: string[] = [];
      const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => {
        logged.push(inspect(line));
      });
      const data = inbound(Buffer.from('Geheim'), { dataCoding });
      expect([await asked(smsc, data), await asked(smsc, data)]).toEqual([0, 0]);
      warn.mockRestore();
      expect(fixture().sink.texts).toEqual([]);
      expect(logged).toHaveLength(1);
      expect(logged[0]).toContain(`data_coding ${dataCoding}`);
      expect(logged[0]).not.toMatch(/Geheim|22670000000/);
    },
  );

  test('that look like a receipt are texts', async () => {
    const smsc = await bound();
    await asked(smsc, inbound('id:1 stat:DELIVRD'));
    expect(fixture().sink.receipts_).toEqual([]);
    expect(fixture().sink.texts).toHaveLength(1);
  });
});

describe('the number of a phone', () => {
  const from = (ton: number, address: string) => inbound('STOP', { source: { ton, npi: 1, address } });

  test.each<[ton: number, address: string]>([
    [1, '22670000001'],
    [1, '+22670000001'],
    [1, '0022670000001'],
    [0, '22670000001'],
    [0, '+22670000001'],
    [0, '0022670000001'],
    [0, '+226 70-00.00(01)'],
    [0, 'tel:+22670000001'],
    [0, '70000001'],
    [0, '070000001'],
    [1, '70000001'],
    [2, '70000001'],
    [2, '070000001'],
    [2, '22670000001'],
    [3, '70000001'],
    [4, '70000001'],
    [5, '22670000001'],
    [9, '70000001'],
  ])('TON %d %j is read as the phone’s number on a link whose home is BF', async (ton, address) => {
    const smsc = await bound({ home: 'BF' });
    expect(await asked(smsc, from(ton, address))).toBe(0);
    expect(fixture().sink.texts).toMatchObject([{ ...stop, from: '22670000001' }]);
    expect(fixture().sink.unread_).toEqual([]);
  });

  test.each<[ton: number, address: string]>([
    [0, '70000001'],
    [0, '070000003'],
    [0, '67720123'],
    [1, '70000001'],
    [2, '70000002'],
    [2, '22670000001'],
    [3, '70000001'],
    [0, '+70000001'],
    [0, ''],
  ])('TON %d %j is not guessed on a link without home: the text is counted, not stored', async (ton, address) => {
    const smsc = await bound();
    expect(await asked(smsc, from(ton, address))).toBe(0);
    expect(fixture().sink.texts).toEqual([]);
    expect(fixture().sink.unread_).toEqual([`acme ${address}`]);
  });

  test('in a receipt is read in the same way', async () => {
    const smsc = await bound({ home: 'BF' });
    const report = (ton: number, address: string): ShortMessage => ({
      ...from(ton, address),
      esmClass: 4,
      shortMessage: Buffer.from('id:1 stat:DELIVRD err:000', 'latin1'),
    });
    await asked(smsc, report(2, '70000001'));
    await asked(smsc, report(0, '070000001'));
    await asked(smsc, report(5, 'ORANGE'));
    expect(fixture().sink.receipts_.map(({ number }) => number)).toEqual(['22670000001', '22670000001', undefined]);
    expect(fixture().sink.unread_).toEqual([]);
  });
});
