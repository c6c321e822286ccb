import assert from 'node:assert/strict';
import type { AuditEntry } from '../../../../src/accounts/audit/audit-entry.js';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, onceKey, phone, range, START } from '../fixtures.js';
import { pages } from '../outbox/listing.js';
import { anOptOut } from '../sms/opt-outs.js';
import type { StorageFixture } from '../storage-fixture.js';
import { anEndpoint, answering, refusedAs, rotate } from '../webhooks/endpoints.js';

const BY = { kind: 'user', id: 'awa@example.com', address: '203.0.113.7' } as const;

function entry(index: number, over: Partial<AuditEntry> = {}): AuditEntry {
  const action = 'signature.registered';
  return { accountId: ACCOUNT, at: START + index * SECOND_MS, by: BY, action, target: `name ${index}`, ...over };
}

export function auditTests({ test }: TestRunner, world: StorageFixture): void {
  const list = async (accountId: string | undefined = ACCOUNT) =>
    [...(await world.audit.list({ limit: 100, accountId })).items].reverse();
  const recorded = async () => (await list()).map(({ action, target }) => `${action} ${target}`);

  test('an entry is stored unchanged, for its account alone', async () => {
    const full = entry(1, { before: { a: 1, b: null, c: ['x'] }, after: { a: 'é "\\ 😀', b: true } });
    await world.audit.record(full);
    await world.audit.record(entry(2, { accountId: undefined, by: { kind: 'host' } }));
    const [stored] = await list();
    assert.deepEqual({ ...stored, id: '' }, { id: '', ...full });
    assert.equal((await world.audit.list({ limit: 100 })).items.length, 2);
  });

  test('entries are listed newest first, page by page, filtered by action and time', async () => {
    for (const index of range(7)) await world.audit.record(entry(index));
    await world.audit.record(entry(9, { action: 'key.revoked' }));
    const read = await pages((page) => world.audit.list({ accountId: ACCOUNT, ...page }), 3);
    assert.deepEqual(
      read.map((page) => page.length),
      [3, 3, 2],
    );
    const found = async (over: object) => (await world.audit.list({ accountId: ACCOUNT, limit: 9, ...over })).items;
    assert.deepEqual(
      (await found({ action: 'key.revoked' })).map(({ at }) => at),
      [START + 9 * SECOND_MS],
    );
    const window = { since: START + 2 * SECOND_MS, until: START + 4 * SECOND_MS };
    assert.deepEqual(
      (await found(window)).map(({ at }) => (at - START) / SECOND_MS),
      [3, 2],
    );
    await assert.rejects(found({ after: 'x' }), refusedAs('error.invalid_cursor'));
  });

  test('an entry about signatures names what changed, and there is none if nothing changed', async () => {
    await world.fund(0);
    const pending = { accountId: ACCOUNT, name: 'SHOP', status: 'pending', createdAt: START } as const;
    const name = { ...pending, reason: undefined, decidedAt: undefined };
    await world.accounts.registerSignature(name, BY);
    await world.accounts.registerSignature(name, BY);
    assert.deepEqual(await world.accounts.removeSignature(ACCOUNT, 'SHOP', START + 1, BY), name);
    assert.equal(await world.accounts.removeSignature(ACCOUNT, 'SHOP', START + 1, BY), undefined);
    await world.accounts.registerSignature(name);
    await world.accounts.decideSignature(ACCOUNT, 'SHOP', 'rejected', 'Non', START + 2, BY);
    const { status } = (await world.accounts.removeSignature(ACCOUNT, 'SHOP', START + 3)) ?? {};
    assert.equal(status, 'rejected');
    await world.accounts.decideSignature(ACCOUNT, 'NONE', 'verified', undefined, START + 4);
    const entries = await list();
    assert.deepEqual(
      entries.map(({ action, by, before, after }) => [action, by.kind, before, after]),
      [
        ['signature.registered', 'user', undefined, { status: 'pending' }],
        ['signature.removed', 'user', { status: 'pending', reason: null }, undefined],
        ['signature.registered', 'host', undefined, { status: 'pending' }],
        ['signature.rejected', 'user', { status: 'pending', reason: null }, { status: 'rejected', reason: 'Non' }],
      ],
    );
  });

  test('opt-outs are recorded as their writer says, for those that changed', async () => {
    const audit = (changed: readonly { readonly number: string }[]) =>
      changed.length === 0 ? [] : [entry(0, { action: 'optout.added', target: String(changed.length) })];
    await world.optOuts.add([anOptOut(1), anOptOut(2)], audit);
    await world.optOuts.add([anOptOut(12, { number: phone(2) }), anOptOut(3)], audit);
    await world.optOuts.add([anOptOut(13, { number: phone(3) })], audit);
    await world.optOuts.add([anOptOut(4)]);
    await world.optOuts.remove([anOptOut(1), anOptOut(9)], undefined, undefined, audit);
    await world.optOuts.remove([anOptOut(1)], undefined, undefined, audit);
    assert.deepEqual(await recorded(), ['optout.added 2', 'optout.added 1', 'optout.added 1']);
    assert.equal((await world.optOuts.find(ACCOUNT, anOptOut(2).id))?.number, anOptOut(2).number);
    assert.equal(await world.optOuts.find('acc2', anOptOut(2).id), undefined);
  });

  test('an entry about endpoints names the changed fields, without secret and path', async () => {
    await world.fund(0);
    const endpoint = anEndpoint(1, { url: 'https://hooks.example.com/token/4711?key=s3cret' });
    const key = { accountId: ACCOUNT, id: endpoint.id };
    await world.endpoints.create(endpoint, answering(onceKey()), BY);
    await world.endpoints.create(anEndpoint(2), answering(onceKey()), BY);
    await world.endpoints.update(key, (given) => ({ ...given, types: ['otp.verified'] }), START + 1, BY);
    await rotate(world, 1);
    await world.endpoints.disable(key, START + 2, BY);
    await world.endpoints.disable(key, START + 2, BY);
    await world.endpoints.enable(key, START + 3, BY);
    await world.endpoints.enable(key, START + 3, BY);
    await world.endpoints.remove({ ...key, accountId: 'acc2' }, START + 4, BY);
    await world.endpoints.remove(key, START + 4, BY);
    const entries = await list();
    assert.deepEqual(
      entries.map(({ action, target }) => [action, target]),
      ['created', 'changed', 'secret_rotated', 'disabled', 'enabled', 'removed'].map((what) => [
        `webhook.${what}`,
        key.id,
      ]),
    );
    assert.deepEqual(
      entries.slice(1, 5).map(({ before, after }) => [before, after]),
      [
        [{ types: ['*'] }, { types: ['otp.verified'] }],
        [{ version: 1 }, { version: 2 }],
        [
          { status: 'enabled', reason: null },
          { status: 'disabled', reason: 'requested' },
        ],
        [
          { status: 'disabled', reason: 'requested' },
          { status: 'enabled', reason: null },
        ],
      ],
    );
    assert.equal(entries[0]?.after?.origin, 'https://hooks.example.com');
    assert.doesNotMatch(JSON.stringify(entries), /4711|s3cret/);
  });

  test('a refused change leaves no entry', async () => {
    await assert.rejects(world.endpoints.create(anEndpoint(1), answering(), BY), refusedAs('error.account_not_found'));
    await world.fund(0);
    await world.endpoints.create(anEndpoint(1), answering(), BY);
    const fails = () => {
      throw new Error('no');
    };
    await assert.rejects(world.endpoints.update({ accountId: ACCOUNT, id: anEndpoint(1).id }, fails, START, BY));
    const failing = () => {
      throw new Error('no');
    };
    await assert.rejects(world.optOuts.add([anOptOut(1)], failing));
    assert.equal(await world.optOuts.find(ACCOUNT, anOptOut(1).id), undefined);
    assert.deepEqual(await recorded(), [`webhook.created ${anEndpoint(1).id}`]);
  });
}
