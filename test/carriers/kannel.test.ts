import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { InboundSms } from '../../src/sms/sms-transport.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { Incoming } from '../../src/transports/smpp/incoming/incoming.js';
import { ReceiptStates } from '../../src/transports/smpp/incoming/receipt-states.js';
import { messageParts } from '../../src/transports/smpp/parts/message-parts.js';
import type { ShortMessage } from '../../src/transports/smpp/pdu/pdu.js';
import { resolveSmppSettings } from '../../src/transports/smpp/resolve-settings.js';
import type { IncomingSettings } from '../../src/transports/smpp/smpp-settings.js';
import { until } from '../support/common/until.js';
import { CallbackServer } from '../support/transports/carriers/callback-server.js';
import { calling, hasKannel, Kannel, type KannelSms } from '../support/transports/carriers/kannel.js';
import { readGsm7, readUcs2 } from '../support/transports/gsm7-packing.js';
import { RecordingSink } from '../support/transports/recording-sink.js';
import { smsOf } from '../support/transports/smpp-fixture.js';
import { receiptOf } from '../support/transports/smsc/receipt.js';
import type { SmscSubmit } from '../support/transports/smsc/smsc-submit.js';
import { TestSmsc } from '../support/transports/smsc/test-smsc.js';

const suite = hasKannel() ? describe : describe.skip;

suite('Kannel as a client of the test SMSC', () => {
  let smsc: TestSmsc;
  let callbacks: CallbackServer;
  let kannel: Kannel;
  const open: { close(): Promise<void> }[] = [];
  let phones = 22_670_000_000;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    smsc = opened(await TestSmsc.listen({ accounts: { kannel: 'secret' } }));
    callbacks = opened(await CallbackServer.listen());
    const inboundUrl = `${callbacks.url}/inbound?from=%p&to=%P&coding=%c&text=%b`;
    kannel = opened(await Kannel.start({ smscPort: smsc.port, service: calling(inboundUrl) }));
    await until(() => smsc.connections.some(({ bind }) => bind !== undefined));
  });
  afterAll(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });

  function opened<T extends { close(): Promise<void> }>(each: T): T {
    open.push(each);
    return each;
  }

  /** Sends to a new phone, and resolves with its submits once there are as many as expected. */
  async function submitsOf(sms: Omit<KannelSms, 'to'>, parts: number): Promise<readonly SmscSubmit[]> {
    const to = String(++phones);
    const own = () => smsc.submits.filter(({ pdu }) => pdu.destination.address === to);
    await kannel.send({ to, ...sms });
    await until(() => own().length >= parts);
    return own();
  }

  test('binds as a transceiver', () => {
    expect(smsc.connection.bind).toMatchObject({
      command: 'bind_transceiver',
      systemId: 'kannel',
      systemType: 'VMA',
      interfaceVersion: 0x34,
    });
  });

  test('probes the SMSC with enquire_link, and answers its probes', async () => {
    await until(() => smsc.connection.count('enquire_link') > 1);
    expect(await smsc.connection.enquire()).toMatchObject({ command: 'enquire_link_resp', status: 0 });
    expect(smsc.connections).toHaveLength(1);
  });

  describe('is understood as it was written:', () => {
    test.each<[string, KannelSms['as'], number, string]>([
      ['a text', 'gsm7', 1, 'Bonjour Émile, à 15 h @ 12 $'],
      ['extension characters', 'gsm7', 1, '[12 €] {a|b} ~ \\ ^'],
      ['UCS-2', 'ucs2', 1, 'fête — الرمز 😀'],
      ['exactly 160', 'gsm7', 1, 'a'.repeat(160)],
      ['three parts of GSM-7', 'gsm7', 3, 'Réunion déplacée à 15 h, là-bas. '.repeat(10)],
      ['an extension character over the boundary', 'gsm7', 3, `${'a'.repeat(152)}€${'a'.repeat(152)}`],
      ['three parts of UCS-2', 'ucs2', 3, 'الرمز الخاص بك صالح لمدة خمس دقائق. '.repeat(5)],
      // Kannel cuts it in two, and neither part can be read alone.
      ['an emoji over the boundary', 'ucs2', 2, `${'я'.repeat(66)}😀${'я'.repeat(66)}`],
    ])('%s', async (_, as, parts, text) => {
      const submits = (await submitsOf({ text, as }, parts)).map(({ pdu }) => pdu);
      expect(submits).toHaveLength(parts);
      expect(readAlone(submits)).toBe(text);
      const read = await readByUs(submits);
      expect(read.map(({ part }) => part?.number)).toEqual(
        parts === 1 ? [undefined] : [...read.keys()].map((at) => at + 1),
      );
      expect(new Set(read.map(({ part }) => part?.reference)).size).toBe(1);
      expect(read.map((each) => each.text).join('')).toBe(text);
    });
  });

  describe('gets the reports about its SMS:', () => {
    /** Kannel’s numbers for the reports about one SMS. Its calls may overtake one another. */
    const reports = (phone: string) =>
      callbacks.calls
        .filter(({ pathname }) => pathname === `/${phone}`)
        .map(({ searchParams }) => searchParams.get('is'));
    const SMSC_TOOK_IT = '8';

    test.each([
      ['DELIVRD', 'both', '1'],
      ['DELIVRD', 'text', '1'],
      ['DELIVRD', 'tlvs', '1'],
      ['UNDELIV', 'both', '2'],
      ['REJECTD', 'text', '2'],
      // Undelivered (2), and Kannel's bit for "expired".
      ['EXPIRED', 'tlvs', '34'],
    ] as const)('%s, in %s', async (state, where, number) => {
      const phone = `${state}-${where}`;
      const [submit] = await submitsOf({ text: 'Bonjour', as: 'gsm7', dlrUrl: `${callbacks.url}/${phone}?is=%d` }, 1);
      expect(submit?.pdu.registeredDelivery).toBe(1);
      expect(await submit?.receipt({ state, in: where })).toBe(0);
      await until(() => reports(phone).length >= 2);
      expect(new Set(reports(phone))).toEqual(new Set([SMSC_TOOK_IT, number]));
    });

    test('as data_sm', async () => {
      const [submit] = await submitsOf({ text: 'Bonjour', as: 'gsm7', dlrUrl: `${callbacks.url}/data?is=%d` }, 1);
      const receipt = submit && receiptOf(submit.pdu, { id: submit.idAs('decimal'), in: 'tlvs' });
      expect(receipt && (await smsc.connection.data(receipt))).toMatchObject({ command: 'data_sm_resp', status: 0 });
      await until(() => reports('data').length >= 2);
      expect(new Set(reports('data'))).toEqual(new Set([SMSC_TOOK_IT, '1']));
    });

    test('refused', async () => {
      smsc.onSubmit = (submit) => {
        smsc.onSubmit = (next) => next.answer();
        submit.answer({ status: 0x0b });
      };
      await submitsOf({ text: 'Bonjour', as: 'gsm7', dlrUrl: `${callbacks.url}/refused?is=%d` }, 1);
      await until(() => reports('refused').length >= 1);
      expect(reports('refused')).toEqual(['16']);
    });
  });

  describe('reads the parts that our splitter makes of a text:', () => {
    test.each([
      ['one part', 'Été à Ouaga: [12 €]'],
      ['an extension character over the boundary', `${'a'.repeat(152)}€${'a'.repeat(152)}`],
      ['an emoji over the boundary', `${'я'.repeat(66)}😀${'я'.repeat(66)}`],
      ['Arabic', 'الرمز الخاص بك صالح لمدة خمس دقائق. '.repeat(5).trim()],
    ])('%s', async (_, text) => {
      const account = { host: 'localhost', systemId: 'client', password: 'secret' };
      const [link] = resolveSmppSettings({ links: [account] }).links;
      const [sms] = smsOf(text);
      const parts = link && sms ? messageParts(sms, link.format, () => 7, 0) : [];
      const from = String(++phones);
      for (const part of parts.toReversed()) {
        const source = { ton: 1, npi: 1, address: from };
        const message = { ...part, source, destination: { ton: 3, npi: 0, address: '888' }, registeredDelivery: 0 };
        expect(await smsc.connection.deliver(message)).toMatchObject({ command: 'deliver_sm_resp', status: 0 });
      }
      const heard = () => callbacks.calls.filter(({ searchParams }) => searchParams.get('from')?.endsWith(from));
      await until(() => heard().length > 0);
      expect(heard().map(textIn)).toEqual([text]);
    });
  });

  test('reconnects after the SMSC has unbound', async () => {
    const before = smsc.connections.length;
    expect(await smsc.connection.unbind()).toMatchObject({ command: 'unbind_resp', status: 0 });
    await until(() => smsc.connections.length > before && smsc.connections.at(-1)?.bind !== undefined);
    expect(await submitsOf({ text: 'Bonjour', as: 'gsm7' }, 1)).toHaveLength(1);
  });

  test('unbinds when it stops', async () => {
    const { connection } = smsc;
    await kannel.close();
    await until(() => connection.closed);
    expect(connection.count('unbind')).toBe(1);
  });
});

/** The text of a phone as Kannel passes it on. */
function textIn({ search, searchParams }: URL): string {
  const [, escaped = ''] = /[?&]text=([^&]*)/.exec(search) ?? [];
  const octets = escaped
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  const charset = searchParams.get('coding') === '2' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(charset, { fatal: true }).decode(Buffer.from(octets, 'latin1'));
}

/** Decodes with the test's own decoder. The parts are joined before they are decoded. */
function readAlone(submits: readonly ShortMessage[]): string {
  const octets = Buffer.concat(
    submits.map(({ esmClass, shortMessage }) =>
      shortMessage.subarray(esmClass & 0x40 ? 1 + (shortMessage[0] ?? 0) : 0),
    ),
  );
  if (submits[0]?.dataCoding !== 8) return readGsm7(octets);
  return readUcs2({ octets, length: octets.length, hasHeader: false });
}

/** The parts that we pass to the service, which joins them, as if a phone had sent them to us. */
async function readByUs(submits: readonly ShortMessage[]): Promise<readonly InboundSms[]> {
  const sink = new RecordingSink();
  const incoming = new Incoming(sink, () => undefined, new FakeClock());
  const settings: IncomingSettings = {
    route: 'kannel',
    messageIds: 'same',
    defaultAlphabet: 'gsm',
    receiptOffsetMinutes: undefined,
    unmarkedReceipts: false,
    states: new ReceiptStates(),
    wholeReceipts: false,
    home: undefined,
  };
  const source = { ton: 1, npi: 1, address: '22670000000' };
  for (const submit of submits) await incoming.deliver({ ...submit, source }, settings, {});
  return sink.texts;
}
