import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
import { SequenceNumbers } from '../../../../../src/transports/smpp/bind/send-window.js';
import type { SubmitOutcome } from '../../../../../src/transports/smpp/bind/submit-outcome.js';
import { until } from '../../../../support/common/until.js';
import { aMessage, openBind } from '../../../../support/transports/smsc/open-bind.js';
import { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';

let smsc: TestSmsc;
let clock: FakeClock;

beforeEach(async () => {
  smsc = await TestSmsc.listen();
  clock = new FakeClock();
});
afterEach(() => smsc.close());

const keep = () => {};

describe('a submit', () => {
  test('arrives unchanged and gets its answer', async () => {
    smsc.onSubmit = (submit) => submit.answer({ messageId: 'A-1', tlvs: [{ tag: 0x1d, value: Buffer.from('x\0') }] });
    const bind = await openBind(smsc.port);
    expect(await bind.submit(aMessage(7))).toEqual({
      kind: 'answered',
      status: 0,
      messageId: 'A-1',
      tlvs: [{ tag: 0x1d, value: new Uint8Array([0x78, 0]) }],
    });
    expect(smsc.submits[0]?.pdu).toEqual({
      command: 'submit_sm',
      status: 0,
      sequence: 2,
      ...aMessage(7),
      shortMessage: new Uint8Array(aMessage(7).shortMessage),
    });
  });

  test.each([0x58, 0x14, 0x0b, 0xff, 0x4001])('refused with %d has that result', async (status) => {
    smsc.onSubmit = (submit) => submit.answer({ status });
    const bind = await openBind(smsc.port);
    expect(await bind.submit(aMessage())).toEqual({ kind: 'answered', status, messageId: '', tlvs: [] });
    expect(bind.open).toBe(true);
  });

  test('that the SMSC cannot read is refused, and never treated as sent', async () => {
    smsc.onSubmit = (submit) => submit.nack(submit.index === 0 ? 0x03 : 0);
    const bind = await openBind(smsc.port);
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'answered', status: 0x03 });
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'answered', status: 0xff });
  });

  test('that cannot be encoded is refused, and the others are not affected', async () => {
    const bind = await openBind(smsc.port);
    const bad = { ...aMessage(1), shortMessage: new Uint8Array(300) };
    const outcomes = await Promise.all([bind.submit(aMessage(0)), bind.submit(bad), bind.submit(aMessage(2))]);
    expect(outcomes.map((each) => each.kind)).toEqual(['answered', 'unsendable', 'answered']);
    expect(smsc.submits.map(({ pdu }) => Buffer.from(pdu.shortMessage).toString())).toEqual(['message 0', 'message 2']);
  });

  test('answered with a message_id without its NUL keeps the id, which its receipt will have', async () => {
    smsc.onSubmit = ({ connection, pdu }) =>
      connection.send({
        command: 'unknown',
        commandId: 0x80000004,
        status: 0,
        sequence: pdu.sequence,
        body: Buffer.from('no-nul'),
      });
    const faults: string[] = [];
    const bind = await openBind(smsc.port, { handlers: { fault: (what) => faults.push(what) } });
    expect(await bind.submit(aMessage())).toEqual({ kind: 'answered', status: 0, messageId: 'no-nul', tlvs: [] });
    expect(faults).toEqual([]);
  });
});

describe('the window', () => {
  test('is never exceeded, and is used fully', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { settings: { window: 3 } });
    const outcomes = Array.from({ length: 10 }, (_, number) => bind.submit(aMessage(number)));
    await smsc.submitted(3);
    expect([bind.outstanding, bind.waiting]).toEqual([3, 7]);
    for (let next = 0; next < 10; next++) {
      await smsc.submitted(Math.min(next + 3, 10));
      expect(smsc.submits).toHaveLength(Math.min(next + 3, 10));
      smsc.submits[next]?.answer();
    }
    expect((await Promise.all(outcomes)).every((each) => each.kind === 'answered')).toBe(true);
    expect(smsc.connection.maxOutstanding).toBe(3);
    expect([bind.outstanding, bind.waiting]).toEqual([0, 0]);
  });

  test('keeps the order of the calls', async () => {
    const bind = await openBind(smsc.port, { settings: { window: 4 } });
    await Promise.all(Array.from({ length: 3000 }, (_, number) => bind.submit(aMessage(number))));
    expect(smsc.submits.map(({ pdu }) => Number(pdu.destination.address) - 33_600_000_000)).toEqual(
      Array.from({ length: 3000 }, (_, number) => number),
    );
  });

  test('accepts answers in any order, each for its own submit', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port);
    const outcomes = Array.from({ length: 8 }, (_, number) => bind.submit(aMessage(number)));
    await smsc.submitted(8);
    for (const at of [5, 0, 7, 2, 1, 6, 4, 3]) smsc.submits[at]?.answer({ messageId: `id-${at}` });
    const ids = (await Promise.all(outcomes)).map((each) => (each.kind === 'answered' ? each.messageId : each.kind));
    expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((at) => `id-${at}`));
  });

  test('treats a second answer to the same submit as a fault, which affects no other submit', async () => {
    smsc.onSubmit = (submit) => {
      submit.answer({ messageId: `first-${submit.index}` });
      submit.answer({ messageId: `second-${submit.index}` });
    };
    const faults: string[] = [];
    const bind = await openBind(smsc.port, {
      handlers: { fault: (what) => faults.push(what) },
      settings: { window: 1 },
    });
    const outcomes = await Promise.all([0, 1, 2].map((number) => bind.submit(aMessage(number))));
    expect(outcomes).toMatchObject([0, 1, 2].map((number) => ({ messageId: `first-${number}` })));
    await until(() => faults.length === 3);
  });
});

describe('without an answer in time, a submit', () => {
  /** The results so far. */
  function settledOf(promises: readonly Promise<SubmitOutcome>[]): (SubmitOutcome | undefined)[] {
    const settled: (SubmitOutcome | undefined)[] = promises.map(() => undefined);
    promises.forEach((promise, at) => {
      void promise.then((outcome) => {
        settled[at] = outcome;
      });
    });
    return settled;
  }

  test('is unknown, and a late answer still gets through', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { clock, settings: { responseTimeoutMs: 10_000 } });
    const submit = bind.submit(aMessage());
    await smsc.submitted(1);
    clock.advance(9_999);
    expect(bind.outstanding).toBe(1);
    clock.advance(1);
    const outcome = await submit;
    expect(outcome).toMatchObject({ kind: 'unknown', reason: 'the SMSC did not answer in time' });
    smsc.submits[0]?.answer({ messageId: 'late' });
    expect(outcome.kind === 'unknown' && (await outcome.late)).toEqual({ status: 0, messageId: 'late', tlvs: [] });
  });

  test('makes us ask the peer for a sign of life, and nothing more is written before there is one', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { clock, settings: { window: 1 } });
    const outcomes = settledOf([0, 1].map((number) => bind.submit(aMessage(number))));
    await smsc.submitted(1);
    smsc.connection.silent = true;
    clock.advance(10_000);
    await until(() => outcomes[0]?.kind === 'unknown');
    // Waiting submits are not wasted on a dead link: they are returned when the link is given up.
    clock.advance(20_000);
    await until(() => outcomes[1]?.kind === 'not-sent');
    expect(await bind.ended).toEqual({ reason: 'the SMSC is silent', orderly: false });
  });

  test('is followed by the next one if the peer is alive', async () => {
    smsc.onSubmit = (submit) => {
      if (submit.index > 0) submit.answer();
    };
    const bind = await openBind(smsc.port, { clock, settings: { window: 1 } });
    const outcomes = [0, 1].map((number) => bind.submit(aMessage(number)));
    await smsc.submitted(1);
    clock.advance(10_000);
    expect(await Promise.all(outcomes)).toMatchObject([{ kind: 'unknown' }, { kind: 'answered' }]);
    expect(bind.open).toBe(true);
  });

  test('is given up with the bind if no answer ever comes', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { clock });
    const submit = bind.submit(aMessage());
    await smsc.submitted(1);
    clock.advance(10_000);
    const outcome = await submit;
    bind.destroy('enough');
    expect(outcome.kind === 'unknown' && (await outcome.late)).toBeUndefined();
  });
});

describe('sequence numbers', () => {
  test('wrap from 0x7FFFFFFF to 1 and skip those in use', () => {
    const numbers = new SequenceNumbers(0x7ffffffd);
    const used = new Set([0x7fffffff, 2, 3]);
    const next = () => numbers.next((number) => used.has(number));
    expect([next(), next(), next(), next()]).toEqual([0x7ffffffe, 1, 4, 5]);
  });

  test('of a bind begin anew with the bind and never repeat among the pending ones', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { settings: { window: 5 } });
    for (let number = 0; number < 5; number++) void bind.submit(aMessage(number));
    await smsc.submitted(5);
    expect(smsc.submits.map(({ pdu }) => pdu.sequence)).toEqual([2, 3, 4, 5, 6]);
  });
});
