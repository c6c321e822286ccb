import assert from 'node:assert/strict';
import type { CredentialChange } from '../../../../../src/msgapp/sessions/session-credentials.js';
import type { SessionLease } from '../../../../../src/msgapp/sessions/session-records.js';
import type { TestRunner } from '../../../test-runner.js';
import { aSession, range, sessionId } from '../../fixtures.js';
import { atOnce } from '../../races/race.js';
import type { StorageFixture } from '../../storage-fixture.js';

/** Ids that a collation or an escaping error could confuse. */
const IDS = [
  'a',
  'A',
  'á',
  'a\u0301',
  'a ',
  ' a',
  '',
  '%',
  '_',
  '?',
  "'",
  '"',
  '\\',
  '\\u0061',
  '\n',
  '😀',
  '$1',
  'null',
  'a\u0000b',
  '\ud800',
  '22670000001.0@s.net',
  '["a"]',
  'x'.repeat(200),
];

export function credentialTests({ test }: TestRunner, world: StorageFixture): void {
  const read = async (kind: string, ids: readonly string[], id = sessionId(1)) =>
    Object.fromEntries(await world.sessions.credentials(id, kind, ids));
  const change = (id: string, value: string | undefined, kind = 'k'): CredentialChange => ({ kind, id, value });

  async function written(lease: SessionLease, ...changes: readonly CredentialChange[]): Promise<void> {
    assert.equal(await world.sessions.writeCredentials(lease, changes), true);
  }

  test('the stored values are returned, and no others', async () => {
    const lease = await world.sessions.create(aSession(1));
    await written(lease, change('a', '1'), change('b', '2'), change('c', '3'), change('a', '4', 'other'));
    assert.deepEqual(await read('k', ['c', 'a', 'x', 'a']), { a: '1', c: '3' });
    assert.deepEqual(await read('other', ['a', 'b']), { a: '4' });
    assert.deepEqual(await read('k', []), {});
    assert.deepEqual(await read('none', ['a']), {});
    assert.deepEqual(await read('k', ['a'], sessionId(2)), {});
  });

  test('816 values are written in one call, as at a first login, and written again', async () => {
    const lease = await world.sessions.create(aSession(1));
    for (const round of [1, 2]) {
      const value = (index: number) => `${round}:${index}:${'k'.repeat(300)}`;
      await written(lease, ...range(816).map((index) => change(`${index}`, value(index), `kind-${index % 3}`)));
      for (const kind of range(3)) {
        const mine = range(816).filter((index) => index % 3 === kind);
        const expected = Object.fromEntries(mine.map((index) => [`${index}`, value(index)]));
        assert.deepEqual(await read(`kind-${kind}`, range(900).map(String)), expected);
      }
    }
  });

  test('undefined deletes a value in the same call in which others are written', async () => {
    const lease = await world.sessions.create(aSession(1));
    await written(lease, change('a', '1'), change('b', '2'), change('a', '3', 'other'));
    await written(lease, change('a', undefined), change('b', '4'), change('never', undefined), change('c', '5'));
    assert.deepEqual(await read('k', ['a', 'b', 'c', 'never']), { b: '4', c: '5' });
    assert.deepEqual(await read('other', ['a']), { a: '3' });
  });

  test('of two changes to one value the later one counts', async () => {
    const lease = await world.sessions.create(aSession(1));
    const twice = [change('a', '1'), change('a', '2'), change('b', '1'), change('b', undefined)];
    await written(lease, ...twice, change('c', undefined), change('c', '3'));
    assert.deepEqual(await read('k', ['a', 'b', 'c']), { a: '2', c: '3' });
  });

  test('ids are compared exactly, and values are returned unchanged', async () => {
    const lease = await world.sessions.create(aSession(1));
    await written(lease, ...IDS.map((id, index) => change(id, `${index} ${id}`)));
    assert.deepEqual(
      await world.sessions.credentials(sessionId(1), 'k', IDS),
      new Map(IDS.map((id, i) => [id, `${i} ${id}`])),
    );
    for (const [index, id] of IDS.entries()) {
      assert.deepEqual(await read('k', [id]), { [id]: `${index} ${id}` });
      await written(lease, change(id, undefined));
      assert.equal((await world.sessions.credentials(sessionId(1), 'k', IDS)).size, IDS.length - index - 1);
    }
  });

  test('kinds are compared exactly too', async () => {
    const lease = await world.sessions.create(aSession(1));
    for (const kind of ['k', 'K', 'k ', 'é']) await written(lease, change('a', `of ${kind}`, kind));
    for (const kind of ['k', 'K', 'k ', 'é']) assert.deepEqual(await read(kind, ['a']), { a: `of ${kind}` });
  });

  test('values of 300 kB are stored, a megabyte at once', async () => {
    const lease = await world.sessions.create(aSession(1));
    const value = (index: number) => `${index}é"\\😀`.padEnd(300_000, `${index}`);
    await written(lease, ...range(4).map((index) => change(`${index}`, value(index))));
    for (const index of range(4)) assert.deepEqual(await read('k', [`${index}`]), { [index]: value(index) });
  });

  test('values with another prefix are found, compared exactly, up to the limit', async () => {
    const lease = await world.sessions.create(aSession(1));
    const values = ['v1.a_b.x', 'v1.aXb.x', 'v1.a_', 'V1.a_b.x', '', 'é', 'x v1.a_b.'];
    await written(lease, ...values.map((value, index) => change(IDS[index] ?? '', value, `k${index % 2}`)));
    const other = await world.sessions.create(aSession(2));
    await written(other, change('a', 'another'));
    const found = await world.sessions.otherCredentials(sessionId(1), 'v1.a_b.', 99);
    const expected = values.map((value, index) => ({ kind: `k${index % 2}`, id: IDS[index], value })).slice(1);
    const sorted = (all: readonly { value: string }[]) => all.toSorted((a, b) => (a.value < b.value ? -1 : 1));
    assert.deepEqual(sorted(found), sorted(expected));
    assert.equal((await world.sessions.otherCredentials(sessionId(1), 'v1.a_b.', 4)).length, 4);
    assert.deepEqual(await world.sessions.otherCredentials(sessionId(1), '', 9), []);
    assert.deepEqual(await world.sessions.otherCredentials('unknown', 'v', 9), []);
  });

  test('a value is replaced if it is still the expected one, and otherwise kept', async () => {
    const lease = await world.sessions.create(aSession(1));
    await written(lease, ...IDS.map((id) => change(id, `old ${id}`)), change('a', 'old a', 'other'));
    const other = await world.sessions.create(aSession(2));
    await written(other, change('a', 'old a'));
    await written(lease, change('b', 'new'), change('A', undefined));
    const replace = (ids: readonly string[], by = lease) =>
      world.sessions.replaceCredentials(
        by,
        ids.map((id) => ({ kind: 'k', id, was: `old ${id}`, value: `replaced ${id}` })),
      );
    assert.equal(await replace(['b', ...IDS]), true);
    const expected = IDS.filter((id) => id !== 'A').map((id) => [id, `replaced ${id}`] as const);
    assert.deepEqual(
      await world.sessions.credentials(sessionId(1), 'k', ['b', ...IDS]),
      new Map([['b', 'new'], ...expected]),
    );
    assert.deepEqual(await read('other', ['a']), { a: 'old a' });
    assert.deepEqual(await read('k', ['a'], sessionId(2)), { a: 'old a' });
    assert.equal(await replace([]), true);
  });

  test('without the lease nothing is replaced', async () => {
    const lease = await world.sessions.create(aSession(1));
    await written(lease, change('a', '1'));
    await world.sessions.seize(sessionId(1), 'p2', 10 ** 15);
    const replacement = { kind: 'k', id: 'a', was: '1', value: '2' };
    assert.equal(await world.sessions.replaceCredentials(lease, [replacement]), false);
    assert.deepEqual(await read('k', ['a']), { a: '1' });
  });

  test('20 sessions write 200 values each at once, and each gets its own', async () => {
    const leases = await atOnce(20, (index) => world.sessions.create(aSession(index)));
    const ids = range(200).map(String);
    await atOnce(60, (index) => {
      const lease = leases[index % 20];
      assert.ok(lease);
      return written(lease, ...ids.map((id) => change(id, `${lease.sessionId} ${id}`)));
    });
    for (const { sessionId: id } of leases) {
      const expected = Object.fromEntries(ids.map((each) => [each, `${id} ${each}`]));
      assert.deepEqual(await read('k', ids, id), expected);
    }
  });
}
