import assert from 'node:assert/strict';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { lacking, type PartRunner } from '../test-runner.js';
import type { TransportFixture } from './transport-fixture.js';
import type { TransportPart } from './transport-harness.js';

const LONG = 'ê'.repeat(150);

export function receiptTests({ testWith }: PartRunner<TransportPart>, fixture: TransportFixture): void {
  /** The statuses that the sink received for one SMS: in reports under our id, or in receipts that match its carrier ids. */
  function statusesOf({ smsId, position, number }: OutgoingSms, result: SubmitResult | undefined): readonly string[] {
    const reports = fixture.reports.filter((report) => report.smsId === smsId && report.position === position);
    const route = result?.route ?? fixture.transport.name;
    const receipts = fixture.carrierReceipts.filter(
      (receipt) =>
        receipt.route === route &&
        receipt.ids.some((id) => id !== '' && result?.carrierIds?.includes(id)) &&
        (receipt.number === undefined || receipt.number === number),
    );
    return [...reports, ...receipts].map(({ status }) => status);
  }

  for (const status of ['delivered', 'undelivered'] as const) {
    testWith(
      'report',
      `a receipt reaches the sink under the id of the submit: ${status} (where the double sends receipts)`,
      async () => {
        const { harness } = fixture;
        if (!harness.report) throw lacking('report');
        const batch = [0, 1, 2].map((index) => fixture.anSms(fixture.good(index)));
        const results = await fixture.submit(batch);
        const [, sms] = batch;
        assert.ok(sms);
        assert.equal(await fixture.settles(harness.report(sms.number, status)), true);
        const expected = status === 'undelivered' ? (harness.failure ?? status) : status;
        assert.deepEqual([...new Set(statusesOf(sms, results[1]))], [expected]);
        for (const index of [0, 2]) assert.deepEqual(statusesOf(batch[index] ?? sms, results[index]), []);
      },
    );
  }

  testWith('report', 'every part of a long SMS is reported on (where the double sends receipts)', async () => {
    const { harness } = fixture;
    if (!harness.report) throw lacking('report');
    const sms = fixture.anSms(fixture.good(), { text: LONG });
    const [result] = await fixture.submit([sms]);
    await fixture.settles(harness.report(sms.number, 'delivered'));
    const parts = result?.carrierIds?.filter((id) => id !== '') ?? [''];
    assert.deepEqual(
      statusesOf(sms, result),
      parts.map(() => 'delivered'),
    );
  });

  testWith(
    'report',
    'the carrier hears that a receipt is stored when it is, not before (where the double sends receipts)',
    async () => {
      const { harness } = fixture;
      if (!harness.report) throw lacking('report');
      await fixture.submit([fixture.anSms(fixture.good())]);
      let store: () => void = () => {};
      fixture.storing = () => new Promise((resolve) => (store = resolve));
      const confirmed = harness.report(fixture.good(), 'delivered');
      assert.ok(await fixture.staysOpen(confirmed), 'the receipt was confirmed before it was stored');
      store();
      assert.equal(await fixture.settles(confirmed), true);
    },
  );

  testWith(
    'report',
    'the carrier hears that a receipt could not be stored (where the double sends receipts)',
    async () => {
      const { harness } = fixture;
      if (!harness.report) throw lacking('report');
      const sms = fixture.anSms(fixture.good());
      const [result] = await fixture.submit([sms]);
      fixture.storing = () => Promise.reject(new Error('The storage is away.'));
      assert.equal(await fixture.settles(harness.report(sms.number, 'delivered')), false);
      fixture.storing = async () => undefined;
      assert.equal(await fixture.settles(harness.report(sms.number, 'delivered')), true);
      assert.deepEqual([...new Set(statusesOf(sms, result))], ['delivered']);
    },
  );

  testWith('say', 'a text from a phone reaches the sink whole (where the double has phones)', async () => {
    const { harness } = fixture;
    if (!harness.say) throw lacking('say');
    for (const text of ['STOP', 'Arrêter 😀\n"a"&b=c']) {
      assert.equal(await fixture.settles(harness.say('22670000001', '36200', text)), true);
      const { from, to, text: received, route } = fixture.texts.at(-1) ?? {};
      assert.deepEqual({ from, to, received }, { from: '22670000001', to: '36200', received: text });
      assert.ok(route);
    }
    assert.equal(fixture.texts.length, 2);
  });
}
