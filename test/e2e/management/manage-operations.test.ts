import { expect, test } from '@jest/globals';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { LedgerChecks } from '../../../src/management/operator/ledger-checks/ledger-checks.js';
import type { LedgerCheckView, SystemView } from '../../../src/management/operator/operations.api.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { asUser, startManage } from '../../support/management/manage-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

/** Makes the next checks of the ledger wait until they are released. */
function heldChecks(store: LedgerStore) {
  const check = store.check.bind(store);
  let letGo: (fault?: Error) => void = () => undefined;
  let progress: () => void = () => undefined;
  store.check = async (options = {}) => {
    progress = () => options.onProgress?.({ part: 'entries', checked: 1000, next: 'entries:x' });
    await new Promise<void>((resolve, reject) => {
      letGo = (fault) => (fault ? reject(fault) : resolve());
    });
    return check(options);
  };
  return { letGo: (fault?: Error) => letGo(fault), progress: () => progress() };
}

const ended = (check: LedgerCheckView) => check.state !== 'running';

describeOnOneAdapter('the operators’ check of the ledger', (adapter) => {
  test('runs in the background, and its result is kept until the next one', async () => {
    const world = await startManage(adapter);
    const { operator, support, storage, clock } = world;
    const last = () => support.read<LedgerCheckView>('manage/ledger/check');
    const none = { part: null, checked: 0, findings: [], started_at: null, ended_at: null };
    expect(await last()).toEqual({ id: null, state: 'none', ...none });
    await clientOf(world);
    const { id } = await operator.done<{ id: string }>('manage/ledger/check');
    expect(await eventually(last, ended, { clock })).toMatchObject({ id, state: 'done', findings: [] });
    storage.database.exec("UPDATE messaging_ledger SET units = units + 1 WHERE kind = 'topup'");
    const second = await operator.done<{ id: string }>('manage/ledger/check');
    const faulty = await eventually(last, (check) => ended(check) && check.id === second.id, { clock });
    expect(faulty).toMatchObject({ state: 'done', findings: [expect.stringContaining('its entries make 11')] });
    expect((await support.post('manage/ledger/check')).status).toBe(403);
    const rows = storage.database.prepare("SELECT target FROM messaging_audit WHERE action = 'ledger.checked'").all();
    expect(rows).toEqual([{ target: id }, { target: second.id }]);
  });

  test('runs once at a time over all processes, streams its progress, and survives a client that leaves', async () => {
    const clock = new FakeClock();
    const storage = await SqliteMemory.open();
    const first = await startManage(adapter, {}, { clock, storage });
    const second = await startManage(adapter, {}, { clock, storage: await storage.another() });
    const held = heldChecks(first.app.get(LedgerStore, { strict: false }));
    const { id } = await first.operator.done<{ id: string }>('manage/ledger/check');
    expect(await second.operator.post('manage/ledger/check')).toMatchObject({ status: 409 });
    const leaving = new AbortController();
    const open = (signal?: AbortSignal) =>
      fetch(`${second.url}/api/v1/manage/ledger/check/stream`, {
        headers: asUser({ subject: 'sam', role: 'support' }),
        ...(signal && { signal }),
      });
    await open(leaving.signal);
    const stream = await open();
    leaving.abort();
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString();
    })();
    held.progress();
    await eventually(() => text.includes('"part":"entries"'), Boolean, { clock });
    held.letGo();
    await eventually(() => text.includes('"state":"done"'), Boolean, { clock });
    await reading;
    expect(text).toContain(`event: check`);
    expect(await second.support.read('manage/ledger/check')).toMatchObject({ id, state: 'done', findings: [] });
    expect((await second.operator.post('manage/ledger/check')).status).toBe(200);
  });

  test('keeps its lease however long a part takes, and is shown as failed if its process has died', async () => {
    const { operator, support, app, clock, storage } = await startManage(adapter);
    const held = heldChecks(app.get(LedgerStore, { strict: false }));
    const { id } = await operator.done<{ id: string }>('manage/ledger/check');
    const last = () => support.read<LedgerCheckView>('manage/ledger/check');
    for (let step = 0; step < 120; step++) {
      clock.advance(1000);
      await new Promise(setImmediate);
    }
    expect(await last()).toMatchObject({ id, state: 'running' });
    held.letGo();
    await eventually(last, ended, { clock });
    // As a process leaves it that dies.
    const until = clock.now() + 30_000;
    storage.database
      .prepare("UPDATE messaging_check SET state = 'running', ended_at = NULL, lease_until = ?")
      .run(until);
    expect(await last()).toMatchObject({ state: 'running' });
    clock.advance(30_000);
    expect(await last()).toMatchObject({ state: 'failed', ended_at: new Date(until).toISOString() });
    expect((await operator.post('manage/ledger/check')).status).toBe(200);
    held.letGo();
  });

  test('fails if it cannot go on, and ends at a shutdown', async () => {
    const { operator, support, app, clock } = await startManage(adapter);
    const held = heldChecks(app.get(LedgerStore, { strict: false }));
    await operator.done('manage/ledger/check');
    held.letGo(new Error('The database is away.'));
    const last = () => support.read<LedgerCheckView>('manage/ledger/check');
    expect(await eventually(last, ended, { clock })).toMatchObject({ state: 'failed', findings: [] });
    await operator.done('manage/ledger/check');
    const checks = app.get(LedgerChecks, { strict: false });
    const stopped = checks.beforeApplicationShutdown();
    expect(held.progress).toThrow();
    held.letGo(new Error('Stopped.'));
    await stopped;
    expect(await last()).toMatchObject({ state: 'failed' });
  });

  test('the system page shows the versions, the storage and the workers', async () => {
    const { support, clock } = await startManage(adapter);
    const read = () => support.read<SystemView>('manage/system');
    const system = await eventually(
      read,
      ({ workers }) => workers.some(({ name, last_round }) => name === 'deliver sms' && last_round !== null),
      { clock },
    );
    expect(system).toMatchObject({ version: '0.1.0', node: process.version, role: 'all', clock_skew_ms: null });
    expect(system.storage).toContainEqual({ text: expect.stringMatching(/^The schema has/), todo: false });
  });
});
