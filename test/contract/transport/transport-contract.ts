import assert from 'node:assert/strict';
import { globalRunner, partRunner, type TestRunner } from '../test-runner.js';
import { receiptTests } from './receipts.js';
import { refusalTests } from './refusals.js';
import { stopTests } from './stopping.js';
import { submitTests } from './submits.js';
import { textTests } from './texts.js';
import { TransportFixture } from './transport-fixture.js';
import type { OpenSmsTransport, TransportPart } from './transport-harness.js';

export type {
  DoubleOutcome,
  OpenSmsTransport,
  ReceivedSms,
  SmsTransportHarness,
  TransportPart,
} from './transport-harness.js';

const TOPICS = {
  submits: submitTests,
  texts: textTests,
  refusals: refusalTests,
  stopping: stopTests,
  receipts: receiptTests,
};

/**
 * Registers the contract tests for an SMS transport. They need a double of the carrier: a server on the loopback
 * interface that behaves as the carrier documents, joins the parts of a long SMS and reports the SMS it has received.
 * Tests that need a part that the double lacks are skipped if `lacks` names it, and fail otherwise.
 *
 * @param name the transport's name in reports
 * @param open returns a transport that is not started, and its double; called before each test
 * @param runner as for `describeStorage`
 * @param lacks the optional parts that the double does not have
 * @throws Error without `runner` if there are no global functions of a test runner
 * @example
 * ```ts
 * describeSmsTransport('my carrier', async () => {
 * const double = await MyCarrierDouble.open();
 * return {
 * transport: new MySmsTransport({ url: double.url }),
 * number: (outcome, index) => `2267${NUMBER_OF[outcome]}${String(index).padStart(6, '0')}`,
 * received: (number) => double.received(number),
 * report: (number, status) => double.report(number, status),
 * close: () => double.close(),
 * };
 * });
 * ```
 */
export function describeSmsTransport(
  name: string,
  open: OpenSmsTransport,
  runner: TestRunner = globalRunner(),
  lacks: readonly TransportPart[] = [],
): void {
  runner.describe(name, () => {
    const fixture = new TransportFixture();
    const parts = partRunner(runner, lacks);
    runner.beforeEach(() => fixture.open(open));
    runner.afterEach(() => fixture.close());
    runner.test('has a valid name, policy and timing', async () => {
      const { name: own, repeat, timing, callbacks } = fixture.transport;
      assert.ok(own.length > 0 && own.length <= 64);
      assert.ok(['idempotent', 'at-least-once', 'at-most-once'].includes(repeat));
      for (const value of Object.values(timing)) assert.ok(Number.isInteger(value) && value > 0);
      for (const name of callbacks.keys()) assert.match(name, /^[\w.~-]{1,64}$/);
    });
    for (const [topic, register] of Object.entries(TOPICS)) runner.describe(topic, () => register(parts, fixture));
  });
}
