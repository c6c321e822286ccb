import { beforeEach, describe, expect, test } from '@jest/globals';
import { DAY_MS } from '../../../../src/common/time.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { ReceiptTracker } from '../../../../src/transports/baileys/receipt-tracker.js';
import { settled } from '../../../support/common/settled.js';
import { stanza } from '../../../support/transports/whatsapp/stanza.js';

const SENT = Promise.resolve();

let clock: FakeClock;
let reported: object[];
let tracker: ReceiptTracker;

beforeEach(() => {
  clock = new FakeClock();
  reported = [];
  tracker = new ReceiptTracker(clock, DAY_MS, (event) => reported.push(event));
});

const ack = (id: string, more = {}) => stanza('ack', { class: 'message', id, ...more });
const receipt = (id: string, more = {}) => stanza('receipt', { from: 'x@lid', id, t: '1700000000', ...more });

describe('a caller that waits for an acknowledgement', () => {
  test('gets it, with its error', async () => {
    const [good, bad] = [tracker.ackOf('A', SENT, 1000), tracker.ackOf('B', SENT, 1000)];
    tracker.acknowledged(ack('A'));
    tracker.acknowledged(ack('B', { error: '479' }));
    expect([await good, await bad]).toEqual([{}, { error: '479' }]);
    expect(reported).toEqual([]);
  });

  test('gets a 463 too, and the number is reported as restricted', async () => {
    const refused = tracker.ackOf('A', SENT, 1000);
    tracker.acknowledged(ack('A', { error: '463' }));
    expect(await refused).toEqual({ error: '463' });
    expect(reported).toEqual([{ kind: 'restricted', code: '463', forMs: DAY_MS }]);
  });

  test('waits from the moment when the message is written', async () => {
    let written = () => {};
    const waiting = tracker.ackOf('A', new Promise<void>((resolve) => (written = resolve)), 1000);
    clock.advance(5000);
    written();
    await settled();
    clock.advance(999);
    tracker.acknowledged(ack('A'));
    expect(await waiting).toEqual({});
  });

  test('gets nothing if time is up, the message could not be written, or the connection is over', async () => {
    const late = tracker.ackOf('A', SENT, 1000);
    const unwritten = tracker.ackOf('B', Promise.reject(new Error('not written')), 1000);
    const cut = tracker.ackOf('C', SENT, 1000);
    tracker.close();
    await settled();
    clock.advance(1000);
    expect([await late, await unwritten, await cut]).toEqual([undefined, undefined, undefined]);
  });

  test('gets it from a receipt as well, which is also reported', async () => {
    const waiting = tracker.ackOf('A', SENT, 1000);
    tracker.received(receipt('A'));
    expect(await waiting).toEqual({});
    expect(reported).toEqual([{ kind: 'receipt', reference: 'A', status: 'delivered', at: 1_700_000_000_000 }]);
  });
});

describe('an acknowledgement or receipt that nobody waits for', () => {
  test('is reported if the acknowledgement is late', () => {
    tracker.acknowledged(ack('A', { t: '1700000000' }));
    tracker.acknowledged(ack('B', { error: '463' }));
    tracker.acknowledged(ack('C', { error: 'no number 22670000001' }));
    expect(reported).toEqual([
      { kind: 'receipt', reference: 'A', status: 'sent', at: 1_700_000_000_000 },
      { kind: 'restricted', code: '463', forMs: DAY_MS },
      { kind: 'receipt', reference: 'B', status: 'failed', error: 'ack_error_463', at: clock.now() },
      { kind: 'receipt', reference: 'C', status: 'failed', error: 'ack_error', at: clock.now() },
    ]);
  });

  test.each([
    ['', 'delivered'],
    ['read', 'read'],
    ['played', 'read'],
  ])('of type "%s" is reported as %s', (type, status) => {
    tracker.received(receipt('A', type === '' ? {} : { type }));
    expect(reported).toMatchObject([{ reference: 'A', status }]);
  });

  test.each(['retry', 'sender', 'read-self', 'inactive', 'server-error', 'constructor'])(
    'of type "%s" says nothing about the recipient and is not reported',
    (type) => {
      tracker.received(receipt('A', { type }));
      expect(reported).toEqual([]);
    },
  );

  test('is reported once for each message that the receipt names', () => {
    const items = ['B', 'C'].map((id) => stanza('item', { id }));
    tracker.received({ ...receipt('A', { type: 'read' }), content: [stanza('list', {}, items)] });
    expect(reported).toMatchObject([{ reference: 'A' }, { reference: 'B' }, { reference: 'C' }]);
  });

  test('gets our own time if its time cannot be read', () => {
    tracker.received(receipt('A', { t: 'yesterday' }));
    expect(reported).toMatchObject([{ at: clock.now() }]);
  });
});
