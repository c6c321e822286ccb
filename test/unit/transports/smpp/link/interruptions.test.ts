import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { manySms, type SmppFixture, smppFixture, smsOf, textOf } from '../../../../support/transports/smpp-fixture.js';
import type { SmscSubmit } from '../../../../support/transports/smsc/smsc-submit.js';
import type { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';

const fixture = smppFixture();
const LONG = `${'a'.repeat(153)}${'b'.repeat(10)}`;
const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind);

/** The log lines of errors and warnings. */
let logged: string[] = [];
beforeEach(() => {
  logged = [];
  for (const level of ['warn', 'error'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((sentence: unknown) => {
      logged.push(`${level} ${sentence}`);
    });
  }
  jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const answering = (status: number) => (submit: SmscSubmit) => submit.answer({ status });
/** Every bind that was accepted. */
const bound = (smsc: TestSmsc) => smsc.connections.filter(({ bind }) => bind !== undefined);
const faults = () => logged.filter((line) => line.includes('to a submit'));

async function upTo(fixture: SmppFixture, ms: number, stepMs = 200): Promise<void> {
  const begun = fixture.clock.now();
  await fixture.until(() => fixture.clock.now() - begun >= ms, stepMs);
}

describe.each([0x03, 0x04, 0x05, 0x0d, 0x0e, 0x0f, 0x53])('an error of the bind, status %i', (status) => {
  test('ends the bind and makes a new one; the messages wait and no attempt is counted', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = answering(status);
    const transport = await fixture().start([{ port: smsc.port }]);
    const results = fixture().submit(transport, manySms(5));
    await fixture().until(() => bound(smsc).length === 3, 20);
    smsc.onSubmit = (submit) => submit.answer();
    expect(kinds(await fixture().settled(results))).toEqual(Array(5).fill('sent'));
    expect(smsc.connections[0]?.count('unbind')).toBe(1);
    expect(transport.state()).toMatchObject([{ usable: true, interruptions: { bind: expect.any(Number), route: 0 } }]);
  });
});

describe('a carrier that believes that nobody is bound', () => {
  test('is tried less and less often, logged once a minute, and costs no attempt', async () => {
    const smsc = await fixture().smsc({ onSubmit: answering(0x04) });
    const transport = await fixture().start([{ port: smsc.port }]);
    const reported: string[] = [];
    const begun = fixture().clock.now();
    while (fixture().clock.now() - begun < 600_000) {
      const results = await fixture().results(transport, manySms(3), 200);
      reported.push(...results.map((result) => `${result.kind} ${result.error} ${'away' in result && result.away}`));
      await upTo(fixture(), 15_000);
    }
    expect(new Set(reported)).toEqual(new Set(['postponed smpp: 0x04 true']));
    expect(bound(smsc).length).toBeGreaterThan(8);
    expect(bound(smsc).length).toBeLessThan(60);
    expect(faults()[0]).toContain(
      'error Link smpp binds again: the carrier answers 0x04 to a submit. The SMSC believes',
    );
    expect(faults().length).toBeLessThan(12);
    expect(logged.join()).not.toMatch(/2267000000\d/);
  });

  test('does not stop the transport’s other route', async () => {
    const [broken, healthy] = [await fixture().smsc({ onSubmit: answering(0x04) }), await fixture().smsc()];
    const transport = await fixture().start([
      { port: broken.port, route: 'broken' },
      { port: healthy.port, route: 'healthy' },
    ]);
    await fixture().until(() => bound(broken).length > 0 && bound(healthy).length > 0);
    const results = await fixture().results(transport, manySms(50));
    expect(kinds(results)).toEqual(Array(50).fill('sent'));
    expect(new Set(results.map((result) => result.route))).toEqual(new Set(['healthy']));
  });

  test('loses none of the messages that it has', async () => {
    const smsc = await fixture().smsc();
    const held: SmscSubmit[] = [];
    smsc.onSubmit = (submit) => held.push(submit);
    const transport = await fixture().start([{ port: smsc.port, window: 4 }]);
    const results = fixture().submit(transport, manySms(4));
    await fixture().until(() => held.length === 4);
    held[0]?.answer({ status: 0x04 });
    await fixture().until(() => faults().length === 1);
    held[1]?.answer();
    held[2]?.nack(0x04);
    held[3]?.answer();
    smsc.onSubmit = (submit) => submit.answer();
    expect(kinds(await fixture().settled(results, 20))).toEqual(Array(4).fill('sent'));
    // Two were taken at once. Only the other two were sent again.
    expect(
      smsc.submits
        .map(({ pdu }) => textOf(pdu))
        .slice(4)
        .sort(),
    ).toEqual(['text 0', 'text 2']);
    expect(smsc.connections[0]?.count('unbind')).toBe(1);
  });

  test('in the middle of a message makes the part wait, and the message is complete in the end', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = (submit) => submit.answer({ status: submit.index === 1 ? 0x04 : 0 });
    const transport = await fixture().start([{ port: smsc.port }]);
    expect(await fixture().results(transport, smsOf(LONG), 20)).toMatchObject([{ kind: 'sent', segments: 2 }]);
    expect(smsc.submits.map(({ pdu }) => textOf(pdu)[0]).join('')).toBe('abb');
  });

  test('in a late answer shows that the SMS was not sent, and a new bind is made', async () => {
    const smsc = await fixture().smsc({ onSubmit: () => {} });
    const transport = await fixture().start([{ port: smsc.port }]);
    expect(kinds(await fixture().results(transport, smsOf('late'), 20))).toEqual(['unknown']);
    smsc.submits[0]?.answer({ status: 0x04 });
    await fixture().until(() => fixture().sink.reports.length === 1 && bound(smsc).length === 2, 20);
    expect(fixture().sink.reports).toEqual([{ smsId: 'send', position: 0, status: 'failed', error: 'smpp: 0x04' }]);
  });

  test.each(['enquire_link_resp', 'generic_nack'] as const)('in its %s to an enquire_link', async (command) => {
    const smsc = await fixture().smsc();
    await fixture().start([{ port: smsc.port, enquireLinkMs: 1000 }]);
    await fixture().until(() => bound(smsc).length === 1);
    const [first] = smsc.connections;
    if (first) first.silent = true;
    await upTo(fixture(), 1200, 50);
    first?.send({ command, status: 0x04, sequence: 2 });
    await fixture().until(() => bound(smsc).length === 2, 20);
    expect(logged.join()).toContain('the SMSC answers 0x04 to an enquire_link');
  });

  test('a nack of an unknown enquire_link is a sign of life', async () => {
    const smsc = await fixture().smsc();
    await fixture().start([{ port: smsc.port, enquireLinkMs: 1000 }]);
    await fixture().until(() => bound(smsc).length === 1);
    const [first] = smsc.connections;
    if (first) first.silent = true;
    await upTo(fixture(), 1200, 50);
    first?.send({ command: 'generic_nack', status: 0x03, sequence: 2 });
    await upTo(fixture(), 5000, 50);
    expect(smsc.connections).toHaveLength(1);
    expect(logged.join()).not.toContain('an answer without a request');
  });

  test('one message that alone is refused this way costs only its own attempts', async () => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = (submit) => submit.answer({ status: textOf(submit.pdu) === 'poison' ? 0x04 : 0 });
    const transport = await fixture().start([{ port: smsc.port }]);
    const submitPoison = async (attempt: number) => {
      const batch = smsOf('poison').map((sms) => ({ ...sms, smsId: 'poison', attempt }));
      const [result] = await fixture().results(transport, batch, 100);
      return result;
    };
    const reported: string[] = [];
    const others: string[] = [];
    for (let attempt = 1; attempt <= 3; ) {
      const handedOver = fixture().submit(transport, manySms(3));
      const result = await submitPoison(attempt);
      if (result?.kind !== 'postponed') attempt++;
      reported.push(`${result?.kind} ${result?.error}`);
      others.push(...kinds(await fixture().settled(handedOver, 100)));
    }
    expect(new Set(others)).toEqual(new Set(['sent', 'postponed']));
    expect(reported.filter((each) => !each.startsWith('postponed'))).toEqual([
      'retry smpp: 0x04',
      'retry smpp: 0x04',
      'refused smpp: 0x04',
    ]);
    expect(transport.state()[0]?.interruptions?.bind).toBeLessThan(25);
  });
});

describe.each([0x06, 0x15, 0x101])('an error of the route, status %i', (status) => {
  test('makes the whole route rest, without an attempt, and then tries one message', async () => {
    const smsc = await fixture().smsc({ onSubmit: answering(status) });
    const transport = await fixture().start([{ port: smsc.port }, { port: smsc.port }]);
    await fixture().until(() => bound(smsc).length === 2);
    const results = await fixture().results(transport, manySms(40), 100);
    expect(new Set(kinds(results))).toEqual(new Set(['postponed']));
    expect(results[0]).toMatchObject({ away: true, error: expect.stringMatching(/^smpp: 0x/) });
    expect(smsc.submits.length).toBeLessThanOrEqual(20);
    expect(transport.state()).toMatchObject([{ usable: false, interruptions: { bind: 0, route: 1 } }]);
    expect(transport.capacity()).toBe(1);
    expect(faults()).toHaveLength(1);
    expect(faults()[0]).toContain('error Route smpp rests');
    smsc.onSubmit = (submit) => submit.answer();
    await fixture().until(() => transport.state()[0]?.usable === true, 200);
    expect(kinds(await fixture().results(transport, manySms(3), 100))).toEqual(Array(3).fill('sent'));
    // The same binds, with which nothing was wrong.
    expect(smsc.connections).toHaveLength(2);
  });
});

describe('a resting route', () => {
  test('rests longer each time, and again for half a minute at most after a part was taken', async () => {
    const smsc = await fixture().smsc({ onSubmit: answering(0x15) });
    const transport = await fixture().start([{ port: smsc.port }]);
    const rest = async () => {
      const before = transport.state()[0]?.interruptions?.route ?? 0;
      const results = fixture().submit(transport, manySms(1));
      await fixture().until(() => (transport.state()[0]?.interruptions?.route ?? 0) > before, 50);
      const begun = fixture().clock.now();
      await fixture().until(() => transport.state()[0]?.usable === true, 500);
      const restMs = fixture().clock.now() - begun;
      await fixture().settled(results, 100);
      return restMs;
    };
    const rests = [await rest(), await rest(), await rest()];
    expect(rests[0]).toBeLessThanOrEqual(31_000);
    expect(rests[1]).toBeGreaterThanOrEqual(29_000);
    expect(rests[2]).toBeGreaterThanOrEqual(59_000);
    await fixture().until(() => transport.state()[0]?.usable === true, 500);
    smsc.onSubmit = (submit) => submit.answer();
    expect(kinds(await fixture().results(transport, manySms(1), 100))).toEqual(['sent']);
    smsc.onSubmit = answering(0x15);
    expect(await rest()).toBeLessThanOrEqual(31_000);
  });

  test('leaves its messages to the other route', async () => {
    const [barred, healthy] = [await fixture().smsc({ onSubmit: answering(0x15) }), await fixture().smsc()];
    const transport = await fixture().start([
      { port: barred.port, route: 'barred' },
      { port: healthy.port, route: 'healthy' },
    ]);
    await fixture().until(() => bound(barred).length > 0 && bound(healthy).length > 0);
    const results = await fixture().results(transport, manySms(30));
    expect(new Set(results.map(({ kind, route }) => `${kind} ${route}`))).toEqual(new Set(['sent healthy']));
    expect(faults()).toHaveLength(1);
  });
});

describe('status classes that a host sets', () => {
  test('for one link apply to that link', async () => {
    const smsc = await fixture().smsc({ onSubmit: answering(0x400) });
    const transport = await fixture().start([{ port: smsc.port, statuses: { 1024: 'message' } }]);
    expect(await fixture().results(transport, smsOf('x'))).toMatchObject([{ kind: 'refused', error: 'smpp: 0x400' }]);
    const bind = await fixture().start([{ port: smsc.port, name: 'other', statuses: { 1024: 'bind' } }]);
    const results = fixture().submit(bind, smsOf('y'));
    await fixture().until(() => logged.some((line) => line.includes('Link other binds again')), 20);
    smsc.onSubmit = (submit) => submit.answer();
    expect(kinds(await fixture().settled(results, 20))).toEqual(['sent']);
  });

  test.each([
    ['later', 'retry'],
    ['throttled', 'sent'],
  ] as const)('%s: %s', async (about, kind) => {
    const smsc = await fixture().smsc();
    smsc.onSubmit = (submit) => submit.answer({ status: submit.index === 0 ? 0x45 : 0 });
    const transport = await fixture().start([{ port: smsc.port, statuses: { 69: about } }]);
    const [sms] = smsOf('x');
    // At the ninth attempt an unclear status would be refused.
    const results = await fixture().results(transport, sms ? [{ ...sms, attempt: 9 }] : []);
    expect(kinds(results)).toEqual([kind]);
  });
});

describe('a bind that is refused for now', () => {
  test.each([0x58, 0x14, 0x08])('with %i is tried again soon, and the messages wait', async (status) => {
    const smsc = await fixture().smsc();
    let refusals = 3;
    smsc.onBind = () => (refusals-- > 0 ? status : 0);
    const transport = await fixture().start([{ port: smsc.port, reconnectMs: 100 }]);
    expect(kinds(await fixture().results(transport, smsOf('x'), 20))).toEqual(['sent']);
    expect(smsc.connections).toHaveLength(4);
  });
});
