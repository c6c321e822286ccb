import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSmPdu, DeliverSmPdu } from '../../../../../src/transports/smpp/pdu/pdu.js';
import { until } from '../../../../support/common/until.js';
import { aMessage, openBind } from '../../../../support/transports/smsc/open-bind.js';
import { TestSmsc } from '../../../../support/transports/smsc/test-smsc.js';

let smsc: TestSmsc;

beforeEach(async () => {
  smsc = await TestSmsc.listen();
});
afterEach(() => smsc.close());

/** A handler whose every call waits until it is released. */
function gated() {
  const calls: {
    readonly message: DeliverSmPdu | DataSmPdu;
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  const deliver = (message: DeliverSmPdu | DataSmPdu) =>
    new Promise<void>((resolve, reject) => {
      calls.push({ message, resolve, reject });
    });
  return { calls, deliver };
}

describe('a delivered message', () => {
  test('is answered once it is stored, not before', async () => {
    const { calls, deliver } = gated();
    await openBind(smsc.port, { handlers: { deliver } });
    const answers: unknown[] = [];
    const first = smsc.connection.deliver(aMessage(1)).then((answer) => answers.push(answer));
    const second = smsc.connection.deliver(aMessage(2)).then((answer) => answers.push(answer));
    await until(() => calls.length === 2);
    await smsc.connection.enquire();
    expect(answers).toEqual([]);
    calls[1]?.resolve();
    await second;
    expect(answers).toEqual([{ command: 'deliver_sm_resp', status: 0, sequence: 2, messageId: '', tlvs: [] }]);
    calls[0]?.resolve();
    await first;
    expect(calls.map(({ message }) => message.destination.address)).toEqual(['33600000001', '33600000002']);
  });

  test('is requested again if it could not be stored', async () => {
    const { calls, deliver } = gated();
    const bind = await openBind(smsc.port, { handlers: { deliver } });
    const answer = smsc.connection.deliver(aMessage());
    await until(() => calls.length === 1);
    calls[0]?.reject(new Error('no database'));
    expect(await answer).toMatchObject({ command: 'deliver_sm_resp', status: 0x64 });
    expect(bind.open).toBe(true);
  });

  test('is requested again if its handler throws at once', async () => {
    const deliver = () => {
      throw new Error('at once');
    };
    await openBind(smsc.port, { handlers: { deliver } });
    expect(await smsc.connection.deliver(aMessage())).toMatchObject({ status: 0x64 });
  });

  test('is refused for now if the handler has too many, and nothing else waits for it', async () => {
    const { calls, deliver } = gated();
    const bind = await openBind(smsc.port, { handlers: { deliver }, settings: { maxUnanswered: 5 } });
    const taken = Array.from({ length: 5 }, () => smsc.connection.deliver(aMessage()));
    expect(await smsc.connection.deliver(aMessage())).toMatchObject({ status: 0x64 });
    expect(calls).toHaveLength(5);
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'answered' });
    for (const { resolve } of calls) resolve();
    expect((await Promise.all(taken)).every(({ status }) => status === 0)).toBe(true);
    const again = smsc.connection.deliver(aMessage());
    await until(() => calls.length === 6);
    calls[5]?.resolve();
    expect(await again).toMatchObject({ status: 0 });
  });

  test('as data_sm reaches the handler the same way, and gets its own kind of answer', async () => {
    const { calls, deliver } = gated();
    await openBind(smsc.port, { handlers: { deliver } });
    const answers = [1, 2].map((number) => smsc.connection.data(aMessage(number)));
    await until(() => calls.length === 2);
    calls[0]?.resolve();
    calls[1]?.reject(new Error('no database'));
    expect(await Promise.all(answers)).toEqual([
      { command: 'data_sm_resp', status: 0, sequence: 1, messageId: '', tlvs: [] },
      { command: 'data_sm_resp', status: 0x64, sequence: 2, messageId: '', tlvs: [] },
    ]);
    expect(calls.map(({ message }) => message.destination.address)).toEqual(['33600000001', '33600000002']);
  });

  test('before the answer to its submit reaches the handler first', async () => {
    const order: string[] = [];
    smsc.onSubmit = (submit) => {
      void submit.receipt({ id: submit.idAs('upper-hex') });
      submit.answer({ messageId: submit.idAs('upper-hex') });
    };
    const bind = await openBind(smsc.port, { handlers: { deliver: async () => void order.push('receipt') } });
    await bind.submit(aMessage()).then(() => order.push('answer'));
    expect(order).toEqual(['receipt', 'answer']);
  });
});

describe('an SMSC that asks', () => {
  test('for a sign of life gets it', async () => {
    await openBind(smsc.port);
    expect(await smsc.connection.enquire()).toEqual({ command: 'enquire_link_resp', status: 0, sequence: 1 });
  });

  test('for something that a client does not support is refused', async () => {
    const faults: string[] = [];
    const bind = await openBind(smsc.port, { handlers: { fault: (what) => faults.push(what) } });
    const multi = await smsc.connection.ask((sequence) => ({
      command: 'unknown',
      commandId: 0x21,
      status: 0,
      sequence,
      body: Buffer.from('?'),
    }));
    expect(multi).toEqual({ command: 'generic_nack', status: 0x03, sequence: 1 });
    const submit = await smsc.connection.ask((sequence) => ({
      command: 'submit_sm',
      status: 0,
      sequence,
      ...aMessage(),
    }));
    expect(submit).toMatchObject({ command: 'generic_nack', status: 0x03 });
    expect(faults).toHaveLength(2);
    expect(bind.open).toBe(true);
  });

  test.each([
    ['a response', 0x80000103],
    ['an alert_notification', 0x102],
  ])('with %s gets no answer', async (_, commandId) => {
    const bind = await openBind(smsc.port);
    const before = smsc.connection.received.length;
    smsc.connection.send({ command: 'unknown', commandId, status: 0, sequence: 9, body: new Uint8Array(0) });
    await smsc.connection.enquire();
    expect(smsc.connection.received.slice(before).map(({ command }) => command)).toEqual(['enquire_link_resp']);
    expect(bind.open).toBe(true);
  });

  test('with a body that cannot be read gets an error', async () => {
    const bind = await openBind(smsc.port);
    const ask = (commandId: number, body: string) =>
      smsc.connection.ask((sequence) => ({
        command: 'unknown',
        commandId,
        status: 0,
        sequence,
        body: Buffer.from(body, 'hex'),
      }));
    expect(await ask(5, '')).toMatchObject({ command: 'deliver_sm_resp', status: 0x02 });
    expect(await ask(5, `00${'010100'.repeat(2)}${'00'.repeat(9)}000427`)).toMatchObject({ status: 0xc0 });
    expect(await ask(0x103, '00')).toMatchObject({ command: 'data_sm_resp', status: 0x02 });
    expect(await ask(4, '00')).toMatchObject({ command: 'generic_nack', status: 0x02 });
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'answered' });
  });
});
