import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { type Clock, SystemClock } from '../../src/common/clock.js';
import { UuidGenerator } from '../../src/common/ids.js';
import type { OutgoingSms, SubmitResult } from '../../src/sms/sms-transport.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import type { SmppLinkOptions } from '../../src/transports/smpp/smpp-options.js';
import { SmppSmsTransport } from '../../src/transports/smpp/smpp-sms-transport.js';
import { DIRECTED_TEXTS } from '../support/transports/carriers/directed-texts.js';
import { hasOsmoMsc, OsmoMsc } from '../support/transports/carriers/osmo-msc.js';
import { readPart } from '../support/transports/carriers/stored-text.js';
import { GSM7_ALPHABET } from '../support/transports/gsm7-packing.js';
import { RecordingSink } from '../support/transports/recording-sink.js';

const suite = hasOsmoMsc() ? describe : describe.skip;

suite('the texts that OsmoMSC stores', () => {
  let osmo: OsmoMsc;
  const transports: SmppSmsTransport[] = [];
  let phones = 22_670_000_000;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    osmo = await OsmoMsc.start({ client: 'secret' });
  });
  afterAll(async () => {
    for (const transport of transports) await transport.stop();
    await osmo.stop();
  });

  async function transportWith(
    link: Partial<SmppLinkOptions> = {},
    clock: Clock = new SystemClock(),
  ): Promise<SmppSmsTransport> {
    const { host, port } = osmo;
    const links = [{ host, port, systemId: 'client', password: 'secret', window: 50, ...link }];
    const transport = new SmppSmsTransport({ links }, clock, new UuidGenerator());
    transports.push(transport);
    await transport.start(new RecordingSink());
    return transport;
  }

  /** Sends each text to a phone of its own. */
  const smsOf = (texts: readonly string[], more: Partial<OutgoingSms> = {}): OutgoingSms[] =>
    texts.map((text, position) => ({
      smsId: 'send',
      position,
      signature: 'INFOS',
      number: String(++phones),
      text,
      attempt: 1,
      ...more,
    }));

  const submit = (transport: SmppSmsTransport, sms: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> =>
    transport.submit(sms, new AbortController().signal);

  const usual = async (): Promise<SmppSmsTransport> => transports[0] ?? transportWith();

  /** The text that the phone would show, from its parts in the order of their numbers. */
  function shown(number = ''): { readonly text: string; readonly parts: number } {
    const parts = osmo.stored(number).map(readPart);
    if (parts.length === 1)
      return { text: parts[0]?.concatenation ? 'a header for one part' : String(parts[0]?.text), parts: 1 };
    expect(parts.map(({ concatenation }) => concatenation)).toEqual(
      parts.map((_, index) => ({
        reference: parts[0]?.concatenation?.reference,
        total: parts.length,
        number: index + 1,
      })),
    );
    return { text: parts.map(({ text }) => text).join(''), parts: parts.length };
  }

  test.each(DIRECTED_TEXTS)('%s: %i parts', async (_, parts, text) => {
    const [sms] = smsOf([text]);
    const [result] = await submit(await usual(), sms ? [sms] : []);
    expect(result).toMatchObject({ kind: 'sent', segments: parts });
    expect(shown(sms?.number)).toEqual({ text, parts });
  });

  test('shows each of 300 simultaneous random texts as it was written', async () => {
    const gsm7 = fc.string({
      unit: fc.constantFrom(...GSM7_ALPHABET.keys()),
      minLength: 1,
      maxLength: 700,
      size: 'max',
    });
    const anything = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 250, size: 'max' });
    const nearlyGsm7 = fc.tuple(gsm7, fc.constantFrom('😀', 'ê', '\u200b', '')).map((ends) => ends.join(''));
    const texts = fc.sample(fc.oneof(gsm7, anything, nearlyGsm7), { numRuns: 300, seed: 7 });
    const sms = smsOf(texts);
    const results = await submit(await usual(), sms);
    const seen = sms.map(({ number }) => shown(number));
    expect(seen).toEqual(texts.map((text, index) => ({ text, parts: results[index]?.segments })));
    expect(Math.max(...seen.map(({ parts }) => parts))).toBeGreaterThan(5);
  });

  // UCS-2 only: behind a header of 7 octets OsmoMSC packs septets one place too late, with 7 fill bits instead of none.
  test.each([
    ['16 bits', 6, `${'я'.repeat(65)}😀${'я'.repeat(100)}`, 3],
    ['8 bits, because 16 would take one part more than was paid for', 5, `${'я'.repeat(65)}😀${'я'.repeat(65)}`, 2],
  ] as const)('with references of %s', async (_, headerOctets, text, parts) => {
    const transport = await transportWith({ longMessages: 'udh16' });
    const [sms] = smsOf([text]);
    await submit(transport, sms ? [sms] : []);
    expect(shown(sms?.number)).toEqual({ text, parts });
    expect(osmo.stored(sms?.number ?? '')[0]?.user_data[0]).toBe(headerOctets);
  });

  test.each([
    ['INFOS', { src_addr: 'INFOS', src_ton: 5, src_npi: 0 }],
    ['Orange 2', { src_addr: 'Orange 2', src_ton: 5, src_npi: 0 }],
    ['22670000001', { src_addr: '22670000001', src_ton: 1, src_npi: 1 }],
    ['3344', { src_addr: '3344', src_ton: 3, src_npi: 0 }],
  ])('from %s', async (signature, source) => {
    const transport = await transportWith({ addresses: { shortCodes: ['3344'] } });
    const [sms] = smsOf(['Bonjour'], { signature });
    await submit(transport, sms ? [sms] : []);
    expect(osmo.stored(sms?.number ?? '')).toEqual([
      expect.objectContaining({ ...source, dest_addr: sms?.number, dest_ton: 1, dest_npi: 1, status_rep_req: 1 }),
    ]);
  });

  test('a text with an expiry is kept until then, any other for a week', async () => {
    const clock = new FakeClock();
    const code = smsOf(['1234'], { expiresAt: clock.now() + 300_000 });
    const text = smsOf(['Bonjour']);
    await submit(await transportWith({}, clock), [...code, ...text]);
    // OsmoMSC reads its clock twice, and a second may begin in between.
    expect([299, 300]).toContain(keptFor(code[0]?.number));
    expect([7 * 86_400 - 1, 7 * 86_400]).toContain(keptFor(text[0]?.number));
  });

  /** In seconds. */
  function keptFor(number = ''): number {
    const [sms] = osmo.stored(number);
    return (Date.parse(`${sms?.valid_until}Z`) - Date.parse(`${sms?.created}Z`)) / 1000;
  }
});
