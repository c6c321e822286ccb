import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../../src/testing/fake-clock.js';
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

describe('a link that breaks', () => {
  test('makes written submits unknown and queued ones not sent', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { settings: { window: 3 } });
    const outcomes = Array.from({ length: 5 }, (_, number) => bind.submit(aMessage(number)));
    await smsc.submitted(3);
    smsc.submits[1]?.answer();
    await smsc.submitted(4);
    smsc.connection.drop();
    expect((await Promise.all(outcomes)).map(({ kind }) => kind)).toEqual([
      'unknown',
      'answered',
      'unknown',
      'unknown',
      'not-sent',
    ]);
    expect(await bind.ended).toMatchObject({ orderly: false });
    expect([bind.open, bind.outstanding, bind.waiting]).toEqual([false, 0, 0]);
  });

  test('accepts no further submits', async () => {
    const bind = await openBind(smsc.port);
    bind.destroy('enough');
    expect(await bind.submit(aMessage())).toEqual({ kind: 'not-sent', reason: 'enough' });
    expect(await bind.close()).toEqual({ reason: 'enough', orderly: false });
  });

  test('before this turn of the event loop ends has sent none of its submits', async () => {
    const bind = await openBind(smsc.port);
    const submit = bind.submit(aMessage());
    bind.destroy('enough');
    expect(await submit).toEqual({ kind: 'not-sent', reason: 'enough' });
    await until(() => smsc.connections[0]?.closed);
    expect(smsc.submits).toEqual([]);
  });

  test('while a handler is working throws no error', async () => {
    let finish = () => {};
    const stored = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let called = false;
    const bind = await openBind(smsc.port, {
      handlers: {
        deliver: () => {
          called = true;
          return stored;
        },
      },
    });
    const answer = smsc.connection.deliver(aMessage()).catch((error: Error) => error.message);
    await until(() => called);
    smsc.connection.drop();
    await bind.ended;
    finish();
    await stored;
    expect(await answer).toBe('The client is gone.');
  });
});

describe('closing', () => {
  test('waits for written submits, returns queued ones, then unbinds', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port, { settings: { window: 2 }, clock });
    const { connection } = smsc;
    const outcomes = [0, 1, 2].map((number) => bind.submit(aMessage(number)));
    await smsc.submitted(2);
    const closing = bind.close();
    expect(bind.open).toBe(false);
    expect(await outcomes[2]).toEqual({ kind: 'not-sent', reason: 'the bind is closing' });
    expect(await bind.submit(aMessage())).toMatchObject({ kind: 'not-sent' });
    smsc.submits[0]?.answer();
    await outcomes[0];
    await connection.enquire();
    expect(connection.count('unbind')).toBe(0);
    smsc.submits[1]?.answer();
    expect(await outcomes[1]).toMatchObject({ kind: 'answered' });
    expect(await closing).toEqual({ reason: 'closed', orderly: true });
    expect(connection.count('unbind')).toBe(1);
    await until(() => connection.closed);
  });

  test('lets the handler finish its message', async () => {
    const finish: (() => void)[] = [];
    const deliver = () => new Promise<void>((resolve) => finish.push(resolve));
    const bind = await openBind(smsc.port, { clock, handlers: { deliver } });
    const answer = smsc.connection.deliver(aMessage());
    await until(() => finish.length === 1);
    const closing = bind.close();
    await smsc.connection.enquire();
    finish[0]?.();
    expect(await answer).toMatchObject({ status: 0 });
    expect(await closing).toMatchObject({ orderly: true });
  });

  test('takes two response timeouts if a handler never finishes and the peer is silent', async () => {
    let called = false;
    const deliver = () => {
      called = true;
      return new Promise<void>(() => {});
    };
    const bind = await openBind(smsc.port, { clock, handlers: { deliver } });
    const { connection } = smsc;
    const answer = connection.deliver(aMessage()).catch(() => 'gone');
    await until(() => called);
    const closing = bind.close();
    connection.silent = true;
    clock.advance(19_999);
    expect(bind.open).toBe(false);
    clock.advance(1);
    expect(await closing).toMatchObject({ orderly: true });
    expect(await answer).toBe('gone');
    await until(() => connection.closed);
  });

  test('has the same result a second time', async () => {
    const bind = await openBind(smsc.port);
    const { connection } = smsc;
    expect(await Promise.all([bind.close(), bind.close()])).toEqual([
      { reason: 'closed', orderly: true },
      { reason: 'closed', orderly: true },
    ]);
    expect(connection.count('unbind')).toBe(1);
  });

  test('ends even if the peer does not close the connection', async () => {
    const bind = await openBind(smsc.port, { clock });
    const { connection } = smsc;
    const closing = bind.close();
    await until(() => connection.count('unbind') === 1);
    await closing;
    clock.advance(2_000);
    await until(() => connection.closed);
  });
});

describe('the SMSC unbinds', () => {
  test('and is answered; submits without an answer are unknown', async () => {
    smsc.onSubmit = keep;
    const bind = await openBind(smsc.port);
    const submit = bind.submit(aMessage());
    await smsc.submitted(1);
    expect(await smsc.connection.unbind()).toMatchObject({ command: 'unbind_resp', status: 0 });
    expect(await bind.ended).toEqual({ reason: 'the SMSC unbound', orderly: true });
    expect(await submit).toMatchObject({ kind: 'unknown', reason: 'the SMSC unbound' });
  });
});
