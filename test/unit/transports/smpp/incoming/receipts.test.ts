import { describe, expect, test } from '@jest/globals';
import {
  deliverKind,
  readReceipt,
  receiptFields,
  receiptTime,
} from '../../../../../src/transports/smpp/incoming/read-receipt.js';
import { ReceiptStates, type ReceiptStatus } from '../../../../../src/transports/smpp/incoming/receipt-states.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';
import { TAG } from '../../../../../src/transports/smpp/pdu/tlv.js';
import type { IncomingSettings } from '../../../../../src/transports/smpp/smpp-settings.js';

const SETTINGS: IncomingSettings = {
  route: 'acme',
  messageIds: 'same',
  defaultAlphabet: 'gsm',
  receiptOffsetMinutes: undefined,
  unmarkedReceipts: false,
  states: new ReceiptStates(),
  wholeReceipts: false,
  home: undefined,
};
const FULL = 'id:abc-1 sub:001 dlvrd:001 submit date:2611211000 done date:2611211001 stat:DELIVRD err:000 text:Bonjour';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const tlv = (tag: number, ...octets: number[]) => ({ tag, value: Uint8Array.from(octets) });
const idTlv = (id: string) => ({ tag: TAG.receiptedMessageId, value: latin1(`${id}\0`) });

function receipt(text: string, more: Partial<ShortMessage> = {}): ShortMessage {
  return {
    ...PLAIN_SHORT_MESSAGE,
    esmClass: 0x04,
    source: { ton: 1, npi: 1, address: '22670000000' },
    destination: { ton: 5, npi: 0, address: 'INFOS' },
    shortMessage: latin1(text),
    ...more,
  };
}

describe('the meaning of a deliver_sm', () => {
  test.each<[string, number]>([
    ['text', 0x00],
    ['text', 0x40],
    ['text', 0x03],
    ['receipt', 0x04],
    ['receipt', 0x44],
    ['receipt', 0x07],
    ['receipt', 0x20],
    ['other', 0x08],
    ['other', 0x10],
    ['other', 0x18],
    ['other', 0x0c],
  ])('%s: esm_class 0x%s', (kind, esmClass) => {
    expect(deliverKind(receipt(FULL, { esmClass }), SETTINGS)).toBe(kind);
  });

  test('a phone cannot fake a receipt, and a carrier may forget to mark one', () => {
    expect(deliverKind(receipt(FULL, { esmClass: 0 }), SETTINGS)).toBe('text');
    expect(deliverKind(receipt(FULL, { esmClass: 0, tlvs: [idTlv('abc-1')] }), SETTINGS)).toBe('receipt');
  });
});

describe('a message that only its text marks as a receipt', () => {
  const UNMARKED: IncomingSettings = { ...SETTINGS, unmarkedReceipts: true };
  const kindOf = (text: string | Uint8Array, more: Partial<ShortMessage> = {}) => {
    const pdu = receipt('', { shortMessage: typeof text === 'string' ? latin1(text) : text, esmClass: 0, ...more });
    return deliverKind(pdu, UNMARKED);
  };

  test.each<[string, string]>([
    ['as in the standard', FULL],
    ['with an empty text', FULL.replace('Bonjour', '')],
    ['without text and error', FULL.replace(/ err.*/, '')],
    ['without text and error, closed with a NUL', FULL.replace(/ err.*/, '\0')],
    ['with seconds', FULL.replaceAll('261121100', '26112110000')],
    ['with a capital Text', FULL.replace('text:', 'Text:')],
    ['with a line end in the text', `${FULL}\nAu revoir`],
    ['of another state', FULL.replace('DELIVRD', 'UNDELIV')],
    [
      'without sub and dlvrd, and without a date of its end',
      'id:abc-1 submit date:2607110700 done date:0000000000 stat:DELIVRD err:000 text:',
    ],
    ['with its labels in another order', 'stat:DELIVRD err:000 done date:2611211001 sub:001 id:abc-1'],
    ['with its labels in another case', FULL.toUpperCase().replace('ABC-1', 'abc-1')],
    ['with a date only', 'id:abc-1 done date:2611211001 stat:EXPIRED'],
    ['with an error only', 'id:abc-1 stat:UNDELIV err:004'],
    ['with dates of 14 digits', FULL.replaceAll(/date:26\d{8}/g, 'date:20261121100159')],
    ['with blanks after the colons', 'id: abc-1 sub: 001 submit date: 2611211000 stat: DELIVRD err: 0'],
    ['with an underscore instead of a blank', 'id:abc-1 submit_date:2611211000 done_date:2611211001 stat:DELIVRD'],
    ['with empty values', 'id:abc-1 sub: dlvrd: submit date:2611211000 done date: stat:DELIVRD err: text:'],
    ['with further labels', `id:abc-1 mcc:613 mnc:02 ${FULL.slice(9)}`],
    ['in lines', FULL.replaceAll(/ (?=sub:|dlvrd|submit|done|stat|err|text)/g, '\r\n')],
    ['with commas', 'id:abc-1, stat:DELIVRD, err:000'],
    ['closed with a line end and a NUL', `${FULL}\r\n\0`],
    ['with a number as its state', 'id:abc-1 done date:2611211001 stat:2 err:000'],
    ['with a state of carriers', FULL.replace('DELIVRD', 'NO-CREDITS')],
  ])('is one %s', (_, text) => {
    expect(kindOf(text)).toBe('receipt');
    expect(readReceipt(receipt(text, { esmClass: 0 }), UNMARKED)).toMatchObject({
      ids: expect.arrayContaining(['abc-1']),
    });
  });

  test('is one in UCS-2, and in message_payload', () => {
    expect(kindOf(Buffer.from(FULL, 'utf16le').swap16(), { dataCoding: 8 })).toBe('receipt');
    expect(kindOf('', { tlvs: [{ tag: TAG.messagePayload, value: latin1(FULL) }] })).toBe('receipt');
  });

  test.each<[string, string]>([
    ['a word', 'STOP'],
    ['nothing', ''],
    ['a receipt that a phone forwards', `Fwd: ${FULL}`],
    ['a quoted receipt', `"${FULL}"`],
    ['a blank before it', ` ${FULL}`],
    ['some labels', 'id:7 stat:DELIVRD'],
    ['neither a date nor an error', FULL.replace(/submit.*?stat/, 'stat').replace(/ err.*/, '')],
    ['an empty date and an empty error', 'id:7 stat:DELIVRD done date: err: text:'],
    ['the words of a person about one', 'id:4711 ist falsch, bitte stat:DELIVRD err:000 pruefen'],
    ['a label of a person before it', `tel:70000001 ${FULL}`],
    ['an id and a question', 'id: 4711? stat: ok?'],
    ['labels and a smile', `${FULL.replace(/ text.*/, '')} :-)`],
    ['no id', FULL.replace('abc-1', '')],
    ['a sub that is not a number', FULL.replace('sub:001', 'sub:one')],
    ['no date', FULL.replace('done date:2611211001', 'done date:demain')],
    ['an invalid date', FULL.replace('done date:2611211001', 'done date:2613211001')],
    ['an invalid submit date', FULL.replace('submit date:2611211000', 'submit date:2611212500')],
    ['an unknown state', FULL.replace('DELIVRD', 'PARFAIT')],
    ['the name of a property as a state', FULL.replace('DELIVRD', 'constructor')],
    ['words after the state', FULL.replace(/err.*/, 'merci')],
    ['words between the labels', FULL.replace(' stat', ' ok stat')],
  ])('is a text from a phone if it has %s', (_, text) => {
    expect(kindOf(text)).toBe('text');
  });

  test('is what its esm_class says, if that says anything, and a text if it has a phone’s header', () => {
    expect([0x08, 0x10].map((esmClass) => kindOf(FULL, { esmClass }))).toEqual(['other', 'other']);
    expect(kindOf(Buffer.from([5, 0, 3, 1, 2, 1, ...latin1(FULL)]), { esmClass: 0x40 })).toBe('text');
  });
});

describe('the text of a receipt', () => {
  test.each<[string, string, (string | undefined)[]]>([
    ['as in the standard', FULL, ['abc-1', 'DELIVRD', '000', '2611211001']],
    [
      'without sub and dlvrd',
      'id:7 submit date:2611211000 done date:261121100130 stat:EXPIRED err:1',
      ['7', 'EXPIRED', '1', '261121100130'],
    ],
    [
      'in another order',
      'stat:UNDELIV err:0A1 id:7 text:x done date:2611211001',
      ['7', 'UNDELIV', '0A1', '2611211001'],
    ],
    ['text first', 'text:Bonjour stat:DELIVRD id:9 err:0', ['9', 'DELIVRD', '0', undefined]],
    [
      'in capitals, with spaces and commas',
      'ID: 7, Stat: REJECTD, Err: 12, Text: id:8',
      ['7', 'REJECTD', '12', undefined],
    ],
    [
      'with empty values',
      'id:7 sub: dlvrd: done date: stat:DELIVRD err: text:',
      ['7', 'DELIVRD', undefined, undefined],
    ],
    ['with line ends', 'id:7\r\nstat:DELIVRD\r\nerr:000', ['7', 'DELIVRD', '000', undefined]],
    ['not at all', 'Bonjour, rendez-vous a 10:30', [undefined, undefined, undefined, undefined]],
  ])('%s', (_, text, [id, stat, err, doneDate]) => {
    expect(receiptFields(text)).toEqual({ id, stat, err, doneDate });
  });

  test('does not count fields in the message’s own words', () => {
    const spoofed = 'id:1 stat:UNDELIV err:001 text:id:2 stat:DELIVRD err:000';
    expect(receiptFields(spoofed)).toMatchObject({ id: '1', stat: 'UNDELIV', err: '001' });
    expect(receiptFields('id:1 stat:EXPIRED text:the valid:2 status:DELIVRD')).toMatchObject({
      id: '1',
      stat: 'EXPIRED',
    });
    // The carrier's words come last. A customer must not be able to write the refund of their own message.
    const first = 'id:1 text:stat:REJECTD err:9 stat:DELIVRD err:000';
    expect(receiptFields(first)).toMatchObject({ id: '1', stat: 'DELIVRD', err: '000' });
  });

  test('is read in time whatever it contains', () => {
    expect(receiptFields(`id:${' '.repeat(60_000)}`).id).toBeUndefined();
    expect(receiptFields('text:'.repeat(10_000)).id).toBeUndefined();
    const long = ['id:', 'id: ', 'a:b ', 'id:7 stat:', 'a'].map((piece) => piece.repeat(60_000));
    const kinds = long.map((text) =>
      deliverKind(receipt(text, { esmClass: 0 }), { ...SETTINGS, unmarkedReceipts: true }),
    );
    expect(new Set(kinds)).toEqual(new Set(['text']));
  });
});

describe('dates', () => {
  test.each<[string, number, number | undefined]>([
    ['2611211001', 0, Date.UTC(2026, 10, 21, 10, 1)],
    ['261121100159', 0, Date.UTC(2026, 10, 21, 10, 1, 59)],
    ['2611211001', 60, Date.UTC(2026, 10, 21, 9, 1)],
    ['2611211001', -300, Date.UTC(2026, 10, 21, 15, 1)],
    ['2613211001', 0, undefined],
    ['2602311001', 0, undefined],
    ['2611212401', 0, undefined],
    ['0000000000', 0, undefined],
    ['20261121100159', 0, undefined],
    ['yesterday', 0, undefined],
  ])('%s at UTC%i min', (date, offset, time) => {
    expect(receiptTime(date, offset)).toBe(time);
  });
});

describe('a receipt', () => {
  test.each<[string, string, string | undefined]>([
    ['DELIVRD', 'delivered', undefined],
    ['delivered', 'delivered', undefined],
    ['EXPIRED', 'undelivered', 'smpp: expired 000'],
    ['DELETED', 'undelivered', 'smpp: deleted 000'],
    ['UNDELIV', 'undelivered', 'smpp: undeliv 000'],
    ['FAILED', 'undelivered', 'smpp: failed 000'],
    ['REJECTD', 'failed', 'smpp: rejectd 000'],
    ['ENROUTE', 'sent', undefined],
    ['ACCEPTD', 'sent', undefined],
    ['UNKNOWN', 'unknown', 'smpp: unknown 000'],
    ['SKIPPED', 'undelivered', 'smpp: skipped 000'],
  ])('with %s is %s', (stat, status, error) => {
    const read = readReceipt(receipt(FULL.replace('DELIVRD', stat)), SETTINGS);
    expect(read).toMatchObject({ route: 'acme', status, number: '22670000000' });
    expect(read?.error).toBe(error);
    expect(read?.ids[0]).toBe('abc-1');
  });

  test.each([
    [1, 'sent'],
    [2, 'delivered'],
    [3, 'undelivered'],
    [4, 'undelivered'],
    [5, 'undelivered'],
    [6, 'sent'],
    [7, 'unknown'],
    [8, 'failed'],
    [0, 'sent'],
    [9, 'undelivered'],
  ])('with message_state %i is %s', (state, status) => {
    const read = readReceipt(receipt('', { tlvs: [idTlv('x'), tlv(TAG.messageState, state)] }), SETTINGS);
    expect(read).toMatchObject({ ids: ['x', 'X'], status });
  });

  test.each<[ReceiptStatus, string]>([
    [
      'sent',
      'SCHEDULED ENROUTE SUBMITD SUBMITTED ACCEPTD ACCEPTED BUFFERED BUFFRED QUEUED ENQUEUE STAGED PENDING SENT RETRY ACK',
    ],
    ['delivered', 'DELIVRD DELIVERED delivrd Delivered DLVRD READ'],
    [
      'undelivered',
      'EXPIRED DELETED UNDELIV UNDELIVERABLE FAILED SKIPPED ABSENT ABSENT-SUB BARRED MOB-OFF SYSERR ZEROBAL',
    ],
    ['failed', 'REJECTD REJECTED NOCRED NO-CREDITS NOROUTE BLIST BLACKLISTED DNDNUMB SPAM CANCELLED INV-NUMBER'],
    ['unknown', 'UNKNOWN NULL'],
    // Cut to seven characters.
    ['sent', 'SUBMITT BUFFERE SCHEDUL ACCEPTE'],
    ['delivered', 'DELIVER'],
    ['undelivered', 'UNDELIV NOTDELI'],
    ['failed', 'REJECTE BLACKLI NOCREDI CANCELL INSUFFI'],
    // The numbers of message_state.
    ['sent', '0 1 6 001'],
    ['delivered', '2 002'],
    ['undelivered', '3 4 5 9'],
    ['unknown', '7'],
    ['failed', '8'],
  ])('is %s in the words %s', (status, states) => {
    const read = states.split(' ').map((stat) => {
      const found = readReceipt(receipt(FULL.replace('DELIVRD', stat)), SETTINGS);
      return [stat, found?.status, found?.unread];
    });
    expect(read).toEqual(states.split(' ').map((stat) => [stat, status, undefined]));
  });

  test.each(['PARKED', 'constructor', '__proto__', 'INVALID', '12', '99', 'B\u00c4D', 'DELIVR', 'x'.repeat(60)])(
    'with the unknown state %s ends nothing and is marked',
    (stat) => {
      const read = readReceipt(receipt(FULL.replace('DELIVRD', stat)), SETTINGS);
      expect(read).toMatchObject({
        status: 'sent',
        unread: true,
        error: expect.stringMatching(/^smpp: [!-~]{1,20} 000$/),
      });
    },
  );

  test('with an unknown message_state ends nothing and is marked', () => {
    const tlvs = [idTlv('x'), tlv(TAG.messageState, 10)];
    expect(readReceipt(receipt('', { tlvs }), SETTINGS)).toMatchObject({ status: 'sent', unread: true });
    expect(readReceipt(receipt(FULL, { tlvs }), SETTINGS)).toMatchObject({ status: 'delivered' });
  });

  test('with a state that the host explains is what the host says', () => {
    const states = new ReceiptStates({ parked: 'sent', FAILED: 'failed', 'No-Subs': 'undelivered', 12: 'delivered' });
    const statusOf = (stat: string, tlvs: ShortMessage['tlvs'] = []) =>
      readReceipt(receipt(FULL.replace('DELIVRD', stat), { tlvs }), { ...SETTINGS, states })?.status;
    expect(['PARKED', 'failed', 'NOSUBS', '12', 'UNDELIV'].map((stat) => statusOf(stat))).toEqual([
      'sent',
      'failed',
      'undelivered',
      'delivered',
      'undelivered',
    ]);
    // Also beside a parameter, which knows only the states of the standard.
    expect(statusOf('FAILED', [tlv(TAG.messageState, 5)])).toBe('failed');
  });

  test('whose parameter says only "unknown" is what its text says', () => {
    const tlvs = [idTlv('x'), tlv(TAG.messageState, 7)];
    expect(readReceipt(receipt('id:x stat:NOCRED err:0', { tlvs }), SETTINGS)).toMatchObject({ status: 'failed' });
    expect(readReceipt(receipt('id:x stat:PARKED err:0', { tlvs }), SETTINGS)).toMatchObject({ status: 'unknown' });
    expect(readReceipt(receipt('', { tlvs }), SETTINGS)).toMatchObject({ status: 'unknown' });
  });

  test('on a link with one receipt per message applies to the whole message', () => {
    expect(readReceipt(receipt(FULL), SETTINGS)).not.toHaveProperty('whole');
    expect(readReceipt(receipt(FULL), { ...SETTINGS, wholeReceipts: true })).toMatchObject({ whole: true });
  });

  test('in both fields is read from the one that has it complete', () => {
    const tlvs = [{ tag: TAG.messagePayload, value: latin1(FULL) }];
    const both = receipt('', { shortMessage: latin1(FULL.slice(0, 40)), tlvs });
    expect(readReceipt(both, SETTINGS)).toMatchObject({ status: 'delivered' });
    const other = receipt('', { shortMessage: latin1(FULL), tlvs: [{ tag: TAG.messagePayload, value: latin1('Hi') }] });
    expect(readReceipt(other, SETTINGS)).toMatchObject({ status: 'delivered' });
  });

  test.each(['x\0\0', 'x ', ' x\r\n'])('names its id without NUL and blanks: %j', (id) => {
    const inTlv = receipt('', { tlvs: [{ tag: TAG.receiptedMessageId, value: latin1(id) }, tlv(TAG.messageState, 2)] });
    expect(readReceipt(inTlv, SETTINGS)?.ids[0]).toBe('x');
    expect(readReceipt(receipt('id:x\0 stat:DELIVRD err:0'), SETTINGS)?.ids[0]).toBe('x');
  });

  test('takes its parameters before its text, each by itself', () => {
    const text = 'id:text-id stat:EXPIRED err:004';
    expect(readReceipt(receipt(text, { tlvs: [idTlv('tlv-id'), tlv(TAG.messageState, 2)] }), SETTINGS)).toMatchObject({
      ids: expect.arrayContaining(['tlv-id', 'text-id']),
      status: 'delivered',
    });
    expect(readReceipt(receipt(text, { tlvs: [idTlv('tlv-id')] }), SETTINGS)).toMatchObject({ status: 'undelivered' });
    const stateOnly = readReceipt(receipt(text, { tlvs: [tlv(TAG.messageState, 5)] }), SETTINGS);
    expect(stateOnly).toMatchObject({ status: 'undelivered', error: 'smpp: undeliv 004' });
    expect(stateOnly?.ids[0]).toBe('text-id');
  });

  test('keeps the network’s own code if the text has none', () => {
    const tlvs = [idTlv('x'), tlv(TAG.messageState, 5), tlv(TAG.networkErrorCode, 3, 0, 0x1b)];
    expect(readReceipt(receipt('', { tlvs }), SETTINGS)?.error).toBe('smpp: undeliv 03001b');
  });

  test('that is intermediate says only that the message is on its way', () => {
    const tlvs = [idTlv('x'), tlv(TAG.messageState, 5)];
    expect(readReceipt(receipt('', { esmClass: 0x20, tlvs }), SETTINGS)?.status).toBe('sent');
  });

  test.each<[string, Partial<ShortMessage>]>([
    ['declared UCS-2 although it is ASCII', { dataCoding: 8 }],
    ['UCS-2 indeed', { dataCoding: 8, shortMessage: Buffer.from(FULL, 'utf16le').swap16() }],
    ['UCS-2 that is not declared', { shortMessage: Buffer.from(FULL, 'utf16le').swap16() }],
    [
      'in message_payload',
      { shortMessage: new Uint8Array(0), tlvs: [{ tag: TAG.messagePayload, value: latin1(FULL) }] },
    ],
  ])('is read if its text is %s', (_, more) => {
    expect(readReceipt(receipt(FULL, more), SETTINGS)).toMatchObject({
      ids: ['abc-1', 'ABC-1', expect.any(String), expect.any(String)],
      status: 'delivered',
    });
  });

  test('has a time only if the carrier’s clock is known', () => {
    expect(readReceipt(receipt(FULL), SETTINGS)).not.toHaveProperty('at');
    const at = Date.UTC(2026, 10, 21, 9, 1);
    expect(readReceipt(receipt(FULL), { ...SETTINGS, receiptOffsetMinutes: 60 })?.at).toBe(at);
    const wrong = FULL.replace('2611211001', '2699999999');
    expect(readReceipt(receipt(wrong), { ...SETTINGS, receiptOffsetMinutes: 60 })).not.toHaveProperty('at');
  });

  test.each<[string | undefined, ShortMessage['source']]>([
    ['22670000000', { ton: 1, npi: 1, address: '+22670000000' }],
    ['22670000000', { ton: 0, npi: 0, address: '+22670000000' }],
    ['22670000000', { ton: 1, npi: 0, address: '0022670000000' }],
    [undefined, { ton: 0, npi: 1, address: '70000000' }],
    [undefined, { ton: 2, npi: 1, address: '70000000' }],
    [undefined, { ton: 5, npi: 0, address: 'INFOS' }],
    [undefined, { ton: 1, npi: 1, address: '' }],
  ])('names the number %s only if it is certain', (number, source) => {
    expect(readReceipt(receipt(FULL, { source }), SETTINGS)?.number).toBe(number);
  });

  test.each([
    ['an id', 'stat:DELIVRD err:000'],
    ['a state', 'id:1 err:000'],
    ['anything', ''],
  ])('without %s says nothing', (_, text) => {
    expect(readReceipt(receipt(text), SETTINGS)).toBeUndefined();
  });

  test('has a carrier’s words in a form fit for a record', () => {
    const read = readReceipt(receipt('id:1 stat:B\u00c4D\u0007 err:\u0000\u001bx'), SETTINGS);
    expect(read?.error).toBe('smpp: b?d? ??x');
  });
});
