import assert from 'node:assert/strict';
import { AuditLog } from '../../../../src/accounts/audit/audit.js';
import { HOST } from '../../../../src/accounts/audit/audit-entry.js';
import { type StoredTemplate, TemplateStore } from '../../../../src/sms/templates/template-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** A template of `ACCOUNT`, changed by `over`. */
export function template(name: string, over: Partial<StoredTemplate> = {}): StoredTemplate {
  return {
    accountId: ACCOUNT,
    name,
    content: 'Bonjour {name} é😀\n"',
    signature: 'INFOS',
    createdAt: START,
    updatedAt: START,
    ...over,
  };
}

export function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof Error && 'code' in error && error.code === code;
}

export function templateTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(TemplateStore);

  test('are stored, replaced and removed with an audit entry for each change', async () => {
    await world.fund(0);
    const key = { accountId: ACCOUNT, name: 'a-1' };
    await store().create(template('a-1'), HOST);
    assert.deepEqual(await store().find(key), template('a-1'));
    const to = { content: 'Autre', signature: undefined };
    const replaced = { ...template('a-1'), ...to, updatedAt: START + 1 };
    assert.deepEqual(await store().replace(key, to, START + 1, HOST), replaced);
    assert.deepEqual(await store().replace(key, to, START + 2, HOST), replaced, 'nothing changed');
    assert.deepEqual(await store().find(key), replaced);
    assert.equal(await store().remove(key, START + 3, HOST), true);
    assert.equal(await store().remove(key, START + 4, HOST), false);
    assert.equal(await store().replace(key, to, START + 4, HOST), undefined);
    assert.equal(await store().find(key), undefined);
    const { items } = await world.storage.store(AuditLog).list({ accountId: ACCOUNT, limit: 10 });
    assert.deepEqual(
      items.map(({ action, at }) => [action, at]).filter(([action]) => String(action).startsWith('template.')),
      [
        ['template.removed', START + 3],
        ['template.changed', START + 1],
        ['template.created', START],
      ],
    );
  });

  test('are listed by name, page by page, for one account', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    for (const name of ['b', 'a', '0-z', 'c']) await store().create(template(name), HOST);
    await store().create(template('a', { accountId: 'acc2' }), HOST);
    const names = async (limit: number, after?: string) => {
      const { items, next } = await store().list(ACCOUNT, { limit, after });
      return [items.map(({ name }) => name), next];
    };
    assert.deepEqual(await names(3), [['0-z', 'a', 'b'], 'b']);
    assert.deepEqual(await names(3, 'b'), [['c'], undefined]);
    assert.deepEqual(await names(4), [['0-z', 'a', 'b', 'c'], undefined]);
  });

  test('a name is taken once, and an account without a row has none', async () => {
    await world.fund(0);
    await store().create(template('a'), HOST);
    await assert.rejects(store().create(template('a'), HOST), refusedWith('error.template_exists'));
    await assert.rejects(
      store().create(template('a', { accountId: 'nobody' }), HOST),
      refusedWith('error.account_not_found'),
    );
  });
}
