import assert from 'node:assert/strict';
import type { OutgoingSms, SubmitResult } from '../../sms/sms-transport.js';
import { lacking, type PartRunner } from '../storage-contract/test-runner.js';
import type { TransportPart } from './transport-harness.js';
import type { TransportWorld } from './transport-world.js';

const LONG = 'ê'.repeat(150);

export function receiptTests({ testWith }: PartRunner<TransportPart>, world: TransportWorld): void {
  /** The statuses that the sink received for one SMS: in reports under our id, or in receipts that match its carrier ids. */
  function statusesOf({ smsId, position, number }: OutgoingSms, result: SubmitResult | undefined): readonly string[] {
    const reports = world.reports.filter((report) => report.smsId === smsId && report.position === position);
    const route = result?.route ?? world.transport.name;
    const receipts = world.carrierReceipts.filter(
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
        const { harness } = world;
        if (!harness.report) throw lacking('report');
        const batch = [0, 1, 2].map((index) => world.anSms(world.good(index)));
        const results = await world.submit(batch);
        const [, sms] = batch;
        assert.ok(sms);
        assert.equal(await world.settles(harness.report(sms.number, status)), true);
        assert.deepEqual([...new Set(statusesOf(sms, results[1]))], [status]);
        for (const index of [0, 2]) assert.deepEqual(statusesOf(batch[index] ?? sms, results[index]), []);
      },
    );
  }

  testWith('report', 'every part of a long SMS is reported on (where the double sends receipts)', async () => {
    const { harness } = world;
    if (!harness.report) throw lacking('report');
    const sms = world.anSms(world.good(), { text: LONG });
    const [result] = await world.submit([sms]);
    await world.settles(harness.report(sms.number, 'delivered'));
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
      const { harness } = world;
      if (!harness.report) throw lacking('report');
      await world.submit([world.anSms(world.good())]);
      let store: () => void = () => {};
      world.storing = () => new Promise((resolve) => (store = resolve));
      const confirmed = harness.report(world.good(), 'delivered');
      assert.ok(await world.staysOpen(confirmed), 'the receipt was confirmed before it was stored');
      store();
      assert.equal(await world.settles(confirmed), true);
    },
  );

  testWith(
    'report',
    'the carrier hears that a receipt could not be stored (where the double sends receipts)',
    async () => {
      const { harness } = world;
      if (!harness.report) throw lacking('report');
      const sms = world.anSms(world.good());
      const [result] = await world.submit([sms]);
      world.storing = () => Promise.reject(new Error('The storage is away.'));
      assert.equal(await world.settles(harness.report(sms.number, 'delivered')), false);
      world.storing = async () => undefined;
      assert.equal(await world.settles(harness.report(sms.number, 'delivered')), true);
      assert.deepEqual([...new Set(statusesOf(sms, result))], ['delivered']);
    },
  );

  testWith('say', 'a text from a phone reaches the sink whole (where the double has phones)', async () => {
    const { harness } = world;
    if (!harness.say) throw lacking('say');
    for (const text of ['STOP', 'Arrêter 😀\n"a"&b=c']) {
      assert.equal(await world.settles(harness.say('22670000001', '36200', text)), true);
      const { from, to, text: received, route } = world.texts.at(-1) ?? {};
      assert.deepEqual({ from, to, received }, { from: '22670000001', to: '36200', received: text });
      assert.ok(route);
    }
    assert.equal(world.texts.length, 2);
  });
}
