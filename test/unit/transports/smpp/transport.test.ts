import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { measure } from '../../../../src/sms/segmentation.js';
import { until } from '../../../support/common/until.js';
import { manySms, smppFixture, smsOf, textOf } from '../../../support/transports/smpp-fixture.js';
import type { SmscSubmit } from '../../../support/transports/smsc/smsc-submit.js';

beforeAll(() => Logger.overrideLogger(false));

const fixture = smppFixture();
const IDS = expect.stringMatching(/^\d+$/);
const LONG = `${'a'.repeat(153)}${'b'.repeat(153)}${'c'.repeat(10)}`;
const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind);
const textsOf = (submits: readonly SmscSubmit[]) => submits.map(({ pdu }) => textOf(pdu));

describe('submitting', () => {
  test('waits for the link, and returns what the carrier answered', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, name: 'acme-1', route: 'acme' }]);
    const [result] = await fixture().results(transport, smsOf('Bonjour'));
    expect(result).toEqual({
      kind: 'sent',
      route: 'acme',
      reference: '870928761',
      carrierIds: ['870928761'],
      segments: 1,
      attempts: [{ route: 'acme-1', outcome: 'sent', at: expect.any(Number) }],
    });
    expect(textsOf(smsc.submits)).toEqual(['Bonjour']);
  });

  test('answers an empty batch', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    expect(await fixture().results(transport, [])).toEqual([]);
  });

  test('keeps within the window, and the results in the order of the batch', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port, window: 4 }]);
    const results = fixture().submit(transport, manySms(10));
    for (let answered = 0; answered < 10; ) {
      const due = Math.min(4, 10 - answered);
      await fixture().until(() => held.length === due);
      answered += due;
      // The last submit that arrived is answered first.
      for (const submit of held.splice(0).reverse()) submit.answer({ messageId: textOf(submit.pdu) });
    }
    expect((await results).map((result) => result.kind === 'sent' && result.reference)).toEqual(
      manySms(10).map(({ text }) => text),
    );
    expect(smsc.connections[0]?.maxOutstanding).toBe(4);
  });

  test('reports of an SMS that came too late that the carrier was not asked', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    const late = smsOf('Bonjour').map((sms) => ({ ...sms, expiresAt: fixture().clock.now() }));
    const [result] = await fixture().results(transport, late);
    expect(result).toEqual({ kind: 'refused', error: 'expired', unasked: true });
    expect(smsc.submits).toEqual([]);
  });

  test('does not submit an SMS whose window has closed meanwhile, and counts no attempt', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    const now = fixture().clock.now();
    const late = smsOf('Bonjour').map((sms) => ({ ...sms, closesAt: now }));
    const [result] = await fixture().results(transport, late);
    expect(result).toMatchObject({ kind: 'postponed', error: 'window_closed' });
    expect(smsc.submits).toEqual([]);
  });

  test('reports each SMS as soon as the carrier has answered, whatever happens to the others', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port }]);
    const reported: string[] = [];
    const results = fixture().submit(transport, manySms(3), (sms, { kind }) => reported.push(`${sms.text} ${kind}`));
    await fixture().until(() => held.length === 3);
    held[2]?.answer({ messageId: 'id-3' });
    held[1]?.answer({ status: 11 });
    await fixture().until(() => reported.length === 2);
    const [first, second, third] = manySms(3).map(({ text }) => text);
    expect(reported.toSorted()).toEqual([`${second} refused`, `${third} sent`].toSorted());
    held[0]?.answer({ messageId: 'id-1' });
    expect(kinds(await results)).toEqual(['sent', 'refused', 'sent']);
    expect(reported[2]).toBe(`${first} sent`);
  });

  test('sends a part once the previous one was taken', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = fixture().submit(transport, smsOf(LONG, LONG));
    for (let part = 1; part <= 3; part++) {
      await fixture().until(() => smsc.submits.length === 2 * part);
      expect(held).toHaveLength(2);
      for (const submit of held.splice(0)) submit.answer({ messageId: `${textOf(submit.pdu)[0]}` });
    }
    expect(await results).toMatchObject([
      { kind: 'sent', carrierIds: ['a', 'b', 'c'], segments: 3 },
      { kind: 'sent', carrierIds: ['a', 'b', 'c'], segments: 3 },
    ]);
  });

  test('never sends more parts a second than the link may, on the clock', async () => {
    const smsc = await fixture().smsc();
    const at: number[] = [];
    smsc.onSubmit = (submit) => {
      at.push(fixture().clock.now());
      submit.answer();
    };
    const transport = await fixture().start([{ port: smsc.port, partsPerSecond: 10 }]);
    await fixture().results(transport, [...manySms(20), ...smsOf(LONG)]);
    expect(at).toHaveLength(23);
    const span = (at.at(-1) ?? 0) - (at[0] ?? 0);
    expect(span).toBeGreaterThanOrEqual(2100);
    expect(span).toBeLessThan(3000);
  });

  test('refuses an SMS that is no longer of use, and does not send it', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    const [sms] = smsOf('code');
    const late = { smsId: 's', position: 0, signature: 'INFOS', number: '1234567', attempt: 1, ...sms, text: 'late' };
    const results = await fixture().results(transport, [
      { ...late, expiresAt: fixture().clock.now() },
      { ...late, text: 'in time', expiresAt: fixture().clock.now() + 300_000 },
    ]);
    expect(results).toMatchObject([{ kind: 'refused', error: 'expired' }, { kind: 'sent' }]);
    expect(textsOf(smsc.submits)).toEqual(['in time']);
    expect(smsc.submits[0]?.pdu.validityPeriod).toMatch(/^0000000004\d\d000R|000000000500000R$/);
  });

  test('shows in the result if there are more parts than were counted and charged', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, defaultAlphabet: 'ascii' }]);
    const text = 'é'.repeat(100);
    expect(measure(text).segments).toBe(1);
    expect(await fixture().results(transport, smsOf(text))).toMatchObject([{ kind: 'sent', segments: 2 }]);
  });

  test('does not know the number of parts if the carrier cuts the text itself', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, longMessages: 'payload' }]);
    const [result] = await fixture().results(transport, smsOf(LONG));
    expect(result).toMatchObject({ kind: 'sent', carrierIds: [IDS] });
    expect(result).not.toHaveProperty('segments');
  });

  test('refuses a text that cannot be encoded, without affecting the others', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = await fixture().results(transport, smsOf('\ud83d', 'fine', 'я'.repeat(255 * 67 + 1)));
    expect(kinds(results)).toEqual(['refused', 'sent', 'refused']);
  });
});

describe('a carrier that refuses', () => {
  test('for good, for now, or without a reason', async () => {
    const smsc = await fixture().smsc();
    const status: Record<string, number> = { good: 0x0b, now: 0x08, why: 0xff, nack: 0x02 };
    smsc.onSubmit = (submit) => {
      const said = status[textOf(submit.pdu)] ?? 0;
      if (textOf(submit.pdu) === 'nack') submit.nack(said);
      else submit.answer({ status: said });
    };
    const transport = await fixture().start([{ port: smsc.port }]);
    const batch = smsOf('good', 'now', 'why', 'why', 'nack', 'ok').map((sms, index) => ({
      ...sms,
      attempt: index === 3 ? 3 : 1,
    }));
    const results = await fixture().results(transport, batch);
    expect(kinds(results)).toEqual(['refused', 'retry', 'retry', 'refused', 'refused', 'sent']);
    expect(results[0]).toMatchObject({ error: 'smpp: 0x0b', attempts: [{ outcome: 'refused', code: '0x0b' }] });
    expect(smsc.submits).toHaveLength(6);
  });

  test('by throttling slows the whole link, and everything goes out within the batch, once', async () => {
    const smsc = await fixture().smsc();
    const taken: string[] = [];
    let throttled = 0;
    smsc.onSubmit = (submit) => {
      if (submit.index % 3 === 0) {
        throttled++;
        submit.answer({ status: 0x58 });
        return;
      }
      taken.push(textOf(submit.pdu));
      submit.answer();
    };
    const transport = await fixture().start([{ port: smsc.port }]);
    const begun = fixture().clock.now();
    const results = await fixture().results(transport, manySms(60));
    expect(new Set(kinds(results))).toEqual(new Set(['sent']));
    expect(taken.sort()).toEqual(
      manySms(60)
        .map(({ text }) => text)
        .sort(),
    );
    expect(throttled).toBe(30);
    // Each rest is at least 50 ms. Those within one flight share it.
    expect(fixture().clock.now() - begun).toBeGreaterThan(500);
  });

  test('because the queue of one phone is full gets that SMS back, and slows nobody else', async () => {
    const smsc = await fixture().smsc();
    const full = '22670000007';
    smsc.onSubmit = (submit) => submit.answer({ status: submit.pdu.destination.address === full ? 0x14 : 0 });
    const transport = await fixture().start([{ port: smsc.port }]);
    await fixture().until(() => smsc.connections[0]?.bind !== undefined);
    // The clock stands still, so a link that rested would never go on.
    const results = await fixture().submit(transport, manySms(100));
    expect(results[7]).toMatchObject({ kind: 'retry', error: 'smpp: 0x14', attempts: [{ code: '0x14' }] });
    expect(kinds(results).filter((kind) => kind === 'sent')).toHaveLength(99);
    expect(smsc.submits).toHaveLength(100);
  });

  test('by throttling forever makes the batch come back when its time is over', async () => {
    const smsc = await fixture().smsc({ onSubmit: (submit) => submit.answer({ status: 0x58 }) });
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = await fixture().results(transport, manySms(20), 200);
    const said = results.map(({ kind, error }) => `${kind} ${error}`);
    expect(new Set(said)).toEqual(new Set(['retry smpp: no time', 'postponed smpp: no time']));
    // The first windows were tried. The others waited for their turn.
    expect(kinds(results).slice(0, 10)).toEqual(Array(10).fill('retry'));
    // 4 minutes with rests of 3.2 to 6.4 s. A tight loop would make thousands of attempts.
    expect(smsc.submits.length).toBeLessThan(150);
  });

  test('by throttling in the middle does not use up the attempts of a later part', async () => {
    const smsc = await fixture().smsc();
    const answers = [0, 0x58, 0x58, 0x58, 0xff, 0x58, 0xff, 0, 0];
    smsc.onSubmit = (submit) => submit.answer({ status: answers[submit.index] ?? 0 });
    const transport = await fixture().start([{ port: smsc.port }]);
    const [result] = await fixture().results(transport, smsOf(LONG), 50);
    expect(result).toMatchObject({ kind: 'sent', carrierIds: [IDS, IDS, IDS] });
    expect(result).not.toHaveProperty('final');
    expect(smsc.submits).toHaveLength(answers.length);
  });

  test('a later part: temporary refusals are waited for, a final one ends the message as undelivered', async () => {
    const smsc = await fixture().smsc();
    let busy = 3;
    smsc.onSubmit = (submit) => {
      const text = textOf(submit.pdu);
      if (text.startsWith('b') && busy-- > 0) submit.answer({ status: 0x64 });
      else if (text.startsWith('c')) submit.answer({ status: 0xff });
      else submit.answer();
    };
    const transport = await fixture().start([{ port: smsc.port }]);
    const [result] = await fixture().results(transport, smsOf(LONG), 50);
    expect(
      textsOf(smsc.submits)
        .map((text) => text[0])
        .join(''),
    ).toBe('abbbbccc');
    expect(result).toMatchObject({
      kind: 'sent',
      final: 'undelivered',
      error: 'smpp: 0xff (part 3 of 3)',
      carrierIds: [IDS, IDS, ''],
    });
  });
});

describe('a link that drops', () => {
  /** Takes this many, cuts the line on the next one without an answer, and from then on takes all. */
  const dropOn = (count: number) => (submit: SmscSubmit) => {
    if (submit.index === count) submit.connection.drop();
    else if (!submit.connection.closed) submit.answer();
  };

  test('leaves what was on the wire unknown, sends the rest on a new link, and nothing twice', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = dropOn(12);
    const transport = await fixture().start([{ port: smsc.port, window: 5 }]);
    const results = await fixture().results(transport, manySms(40));
    const unknown = kinds(results).filter((kind) => kind === 'unknown').length;
    expect(unknown).toBeGreaterThanOrEqual(1);
    expect(unknown).toBeLessThanOrEqual(5);
    expect(kinds(results).filter((kind) => kind === 'sent')).toHaveLength(40 - unknown);
    expect(new Set(textsOf(smsc.submits)).size).toBe(smsc.submits.length);
    expect(smsc.connections).toHaveLength(2);
    expect(results.find(({ kind }) => kind === 'unknown')).toMatchObject({ error: 'smpp: no answer' });
  });

  test('has its submit repeated with resendUnknown, and sent', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = dropOn(3);
    const transport = await fixture().start([{ port: smsc.port, window: 5 }], { resendUnknown: true });
    const results = await fixture().results(transport, manySms(20));
    expect(new Set(kinds(results))).toEqual(new Set(['sent']));
    expect(new Set(textsOf(smsc.submits)).size).toBe(20);
    expect(smsc.submits.length).toBeGreaterThan(20);
  });

  test('between two parts lets the message go on where it was', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port, partsPerSecond: 1 }]);
    const results = fixture().submit(transport, smsOf(LONG));
    await fixture().until(() => smsc.submits.length === 1);
    // The second part waits for its turn, a second later.
    await fixture().until(() => smsc.submits[0]?.answered === true);
    fixture().clock.advance(100);
    await until(() => smsc.connections[0]?.outstanding === 0);
    smsc.connections[0]?.drop();
    expect(await fixture().settled(results)).toMatchObject([{ kind: 'sent', carrierIds: [IDS, IDS, IDS] }]);
    expect(
      smsc.submits.map(({ pdu, connection }) => `${textOf(pdu)[0]}${smsc.connections.indexOf(connection)}`),
    ).toEqual(['a0', 'b1', 'c1']);
  });

  test('in the middle of a message with one part in flight makes it unknown, and the ids of the others are kept', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = (submit) => {
      if (textOf(submit.pdu).startsWith('b')) submit.connection.drop();
      else submit.answer();
    };
    const transport = await fixture().start([{ port: smsc.port }]);
    const [result] = await fixture().results(transport, smsOf(LONG));
    expect(result).toMatchObject({
      kind: 'unknown',
      error: 'smpp: no answer (part 2 of 3)',
      carrierIds: ['870928761', '', ''],
    });
    expect(smsc.submits).toHaveLength(2);
  });

  test('passes its work to the others', async () => {
    const [first, second] = [await fixture().smsc(), await fixture().smsc()];
    let down = false;
    first.onSubmit = (submit) => {
      if (submit.index < 3) submit.answer();
      else if (!down) {
        down = true;
        first.onBind = () => undefined;
        submit.connection.drop();
      }
    };
    const transport = await fixture().start([{ port: first.port }, { port: second.port }]);
    await fixture().until(() => first.connections[0]?.bind !== undefined && second.connections[0]?.bind !== undefined);
    const results = await fixture().results(transport, manySms(100));
    const unknown = kinds(results).filter((kind) => kind === 'unknown').length;
    expect(unknown).toBeLessThanOrEqual(10);
    expect(kinds(results).filter((kind) => kind === 'sent')).toHaveLength(100 - unknown);
    expect(second.submits.length).toBeGreaterThanOrEqual(87);
  });
});

describe('a carrier that does not answer', () => {
  test('leaves the submit unknown, and gets submits one by one from then on', async () => {
    const smsc = await fixture().smsc({ onSubmit: () => {} });
    const transport = await fixture().start([{ port: smsc.port, window: 4, enquireLinkMs: 3_600_000 }]);
    const begun = fixture().clock.now();
    const results = await fixture().results(transport, manySms(6), 20);
    // Four together for 10 s, and 10 s for each of the others.
    expect(fixture().clock.now() - begun).toBeGreaterThan(30_000);
    expect(new Set(kinds(results))).toEqual(new Set(['unknown']));
    expect(new Set(textsOf(smsc.submits)).size).toBe(6);
  });

  test('until later settles the SMS with a late refusal or a late receipt', async () => {
    const smsc = await fixture().smsc({ onSubmit: () => {} });
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = await fixture().results(transport, smsOf('refused', 'taken'), 20);
    expect(kinds(results)).toEqual(['unknown', 'unknown']);
    const [refused, taken] = smsc.submits;
    refused?.answer({ status: 0x0b });
    taken?.answer();
    await fixture().until(() => fixture().sink.reports.length === 1);
    expect(fixture().sink.reports).toEqual([{ smsId: 'send', position: 0, status: 'failed', error: 'smpp: 0x0b' }]);
    expect(await taken?.receipt()).toBe(0);
    expect(fixture().sink.reports[1]).toEqual({ smsId: 'send', position: 1, status: 'delivered' });
    expect(fixture().sink.receipts_).toEqual([]);
  });
});

describe('stopping', () => {
  test('lets submits on the wire be answered at the signal, and gives back the rest', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port, window: 3 }]);
    const results = fixture().submit(transport, [...manySms(8), ...smsOf(LONG)]);
    await fixture().until(() => held.length === 3);
    const untried = { kind: 'postponed', error: 'smpp: stopping', until: fixture().clock.now() };
    fixture().stopping.abort();
    for (const submit of held) submit.answer();
    const all = await fixture().settled(results);
    expect(kinds(all.slice(0, 3))).toEqual(['sent', 'sent', 'sent']);
    expect(all.slice(3)).toEqual(Array(6).fill(untried));
    expect(smsc.submits).toHaveLength(3);
  });

  test('counts the attempt of an SMS that the carrier refused while the process wanted to stop', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = fixture().submit(transport, manySms(1));
    await fixture().until(() => held.length === 1);
    fixture().stopping.abort();
    held[0]?.answer({ status: 0x58 });
    expect(await fixture().settled(results)).toMatchObject([{ kind: 'retry', error: 'smpp: stopping' }]);
  });

  test('finishes a message that has begun', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => (submit.index === 0 ? held.push(submit) : submit.answer());
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = fixture().submit(transport, smsOf(LONG));
    await fixture().until(() => held.length === 1);
    fixture().stopping.abort();
    held[0]?.answer();
    expect(kinds(await fixture().settled(results))).toEqual(['sent']);
    expect(smsc.submits).toHaveLength(3);
  });

  test('gives back a whole batch that comes after the signal', async () => {
    const smsc = await fixture().smsc();
    const transport = await fixture().start([{ port: smsc.port }]);
    fixture().stopping.abort();
    const untried = { kind: 'postponed', error: 'smpp: stopping', until: fixture().clock.now() };
    expect(await fixture().submit(transport, manySms(2))).toEqual([untried, untried]);
    expect(smsc.submits).toEqual([]);
  });

  test('waits for answers, unbinds, and ends what is left', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port, window: 1 }]);
    const results = fixture().submit(transport, smsOf('first', LONG));
    await fixture().until(() => held.length === 1);
    const stopped = fixture().stop(transport);
    held[0]?.answer();
    await stopped;
    expect(kinds(await results)).toEqual(['sent', 'postponed']);
    expect(smsc.connections[0]?.count('unbind')).toBe(1);
    expect(smsc.submits).toHaveLength(1);
  });

  test('also works while no link was established', async () => {
    const smsc = await fixture().smsc({ onBind: () => undefined });
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = fixture().submit(transport, manySms(1));
    await fixture().until(() => smsc.connections.length === 1);
    await fixture().stop(transport);
    expect(kinds(await results)).toEqual(['postponed']);
  });
});
