import assert from 'node:assert/strict';
import type {
  CarrierReceipt,
  InboundSms,
  OutgoingSms,
  ReportResult,
  SmsReport,
  SmsSink,
  SmsTransport,
  SubmitResult,
} from '../../../src/sms/sms-transport.js';
import type { DoubleOutcome, OpenSmsTransport, ReceivedSms, SmsTransportHarness } from './transport-harness.js';

/** The longest wait of the suite, in turns of the event loop of about a millisecond each. */
const MAX_TURNS = 15_000;

/** The transport of the running test, what its sink has received, and helpers for the tests. */
export class TransportFixture implements SmsSink {
  readonly reports: SmsReport[] = [];
  readonly carrierReceipts: CarrierReceipt[] = [];
  readonly texts: InboundSms[] = [];
  readonly unreadAddresses: string[] = [];
  /** Replaced by tests to delay the storing of receipts or make it fail. */
  storing: () => Promise<void> = async () => undefined;
  private opened: SmsTransportHarness | undefined;
  private sms = 0;

  async open(open: OpenSmsTransport): Promise<void> {
    for (const received of [this.reports, this.carrierReceipts, this.texts, this.unreadAddresses]) received.length = 0;
    this.storing = async () => undefined;
    this.opened = await open();
    await this.settles(this.transport.start(this));
  }

  async close(): Promise<void> {
    const { opened } = this;
    if (opened) await this.settles(opened.transport.stop());
    this.opened = undefined;
    await opened?.close();
  }

  get harness(): SmsTransportHarness {
    assert.ok(this.opened, 'the transport is open');
    return this.opened;
  }

  get transport(): SmsTransport {
    return this.harness.transport;
  }

  unread(_route: string, address: string): void {
    this.unreadAddresses.push(address);
  }

  async report(reports: readonly SmsReport[]): Promise<void> {
    await this.storing();
    this.reports.push(...reports);
  }

  async receipts(receipts: readonly CarrierReceipt[]): Promise<void> {
    await this.storing();
    this.carrierReceipts.push(...receipts);
  }

  async inbound(messages: readonly InboundSms[]): Promise<void> {
    await this.storing();
    this.texts.push(...messages);
  }

  /** A number whose SMS have this outcome; undefined if the double cannot produce it. */
  number(outcome: DoubleOutcome, index = 0): string | undefined {
    return this.harness.number(outcome, index);
  }

  /** A number whose SMS are accepted. */
  good(index = 0): string {
    const number = this.number('taken', index);
    assert.ok(number, 'the double takes SMS to some numbers');
    return number;
  }

  /** Makes a new SMS, changed by `over`. */
  anSms(number: string, over: Partial<OutgoingSms> = {}): OutgoingSms {
    this.sms += 1;
    const smsId = `sms-${String(this.sms).padStart(6, '0')}`;
    return { smsId, position: 0, signature: 'INFOS', number, text: `Bonjour ${this.sms}`, attempt: 1, ...over };
  }

  /** Submits SMS and checks the form of the results: one for each SMS, within the port's types. */
  async submit(batch: readonly OutgoingSms[], signal?: AbortSignal): Promise<readonly SubmitResult[]> {
    const early: (readonly [OutgoingSms, SubmitResult])[] = [];
    const report: ReportResult = (sms, result) => early.push([sms, result]);
    const results = await this.settles(this.transport.submit(batch, signal ?? new AbortController().signal, report));
    assert.equal(results.length, batch.length, 'one result for each SMS');
    for (const [index, result] of results.entries()) checkForm(result, batch[index]);
    for (const [sms, result] of early) {
      const index = batch.indexOf(sms);
      assert.ok(index >= 0, 'an early result is for an object of the batch');
      assert.deepEqual(result, results[index], 'an early result equals the returned one');
    }
    return results;
  }

  async received(number: string): Promise<readonly ReceivedSms[]> {
    return this.harness.received(number);
  }

  /** Awaits a promise while the harness may advance its clock. */
  async settles<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const done = () => {
      over = true;
    };
    promise.then(done, done);
    for (let turn = 0; !over; turn += 1) {
      assert.ok(turn < MAX_TURNS, 'it should have ended long ago');
      await new Promise((resolve) => (turn < 50 ? setImmediate(resolve) : setTimeout(resolve, 1)));
      if (!over) this.harness.pass?.();
    }
    return promise;
  }

  /** Whether a promise is still pending after 100 ms. */
  async staysOpen(promise: Promise<unknown>): Promise<boolean> {
    let open = true;
    const done = () => {
      open = false;
    };
    promise.then(done, done);
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    return open;
  }
}

const KINDS = ['sent', 'retry', 'postponed', 'refused', 'unknown'];

function checkForm(result: SubmitResult, sms: OutgoingSms | undefined): void {
  assert.ok(KINDS.includes(result.kind), `kind ${result.kind}`);
  if (result.kind !== 'sent') assert.ok(result.error.length > 0, 'an error says why');
  for (const error of [result.error ?? '', ...(result.attempts ?? []).map(({ code = '' }) => code)]) {
    assert.ok(sms && !error.includes(sms.text) && !error.includes(sms.number), 'no text and no number in an error');
  }
  assert.ok(result.segments === undefined || (Number.isInteger(result.segments) && result.segments > 0));
  assert.ok(result.carrierIds === undefined || result.carrierIds.length > 0, 'ids of some parts, or none at all');
  assert.ok(result.attempts === undefined || result.attempts.length > 0, 'some tries, or none at all');
}
