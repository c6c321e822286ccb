import { describe, expect, test } from '@jest/globals';
import { HOST } from '../../../src/accounts/audit/audit.js';
import { TypeormAuditLog } from '../../../src/accounts/audit/audit-sql.js';
import { MAX_PAGE_BYTES, type Page, type PageRequest } from '../../../src/common/page.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { TypeormOutboxStore } from '../../../src/outbox/outbox-sql.js';
import { TypeormPhoneStore } from '../../../src/sandbox/phones/phone-sql.js';
import { Executor, type Work } from '../../../src/storage/engine/executor.js';
import { executorFor } from '../../../src/storage/engine/executor-for.js';
import type { Operation } from '../../../src/storage/engine/operation.js';
import {
  ACCOUNT,
  aSend,
  messageId,
  phone,
  range,
  recipients,
  START,
} from '../../../src/testing/storage-contract/fixtures.js';
import { TypeormEndpointStore } from '../../../src/webhooks/endpoints/endpoint-sql.js';
import { closeAfterEach } from '../../support/opened.js';
import { SqliteMemory } from '../../support/sqlite-memory.js';

/** Counts the bytes of all rows that are read through it. */
class CountedExecutor extends Executor {
  override readonly dialect;
  bytes = 0;

  constructor(private readonly inner: Executor) {
    super();
    this.dialect = inner.dialect;
  }

  override write<T>(work: Work<T>): Promise<T> {
    return this.inner.write(work);
  }

  override writeLazily<T>(work: Work<T>): Promise<T> {
    return this.inner.writeLazily(work);
  }

  override read<T>(work: Work<T>): Promise<T> {
    return this.inner.read(() => this.watch(work));
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}

  private *watch<T>(work: Work<T>): Operation<T> {
    const operation = work();
    let step = operation.next();
    while (!step.done) {
      const result = yield step.value;
      this.bytes += Buffer.byteLength(JSON.stringify(result.rows));
      step = operation.next(result);
    }
    return step.value;
  }
}

/** What a page may have: the bound, one long text that begins within it, and what is short. */
const MAX_REPLY = 1.2 * MAX_PAGE_BYTES;
const TEXT = 'é'.repeat(20_000);
const COUNT = 90;
const opened = closeAfterEach();

async function setup() {
  const storage = opened(await SqliteMemory.open());
  const executor = new CountedExecutor(await executorFor(storage.dataSource));
  return { storage, executor, outbox: new TypeormOutboxStore(executor) };
}

/** Reads all pages of a list; each of them must be bounded. */
async function readAll<T extends { readonly id: string }>(
  executor: CountedExecutor,
  list: (page: PageRequest) => Promise<Page<T>>,
  maxRead = MAX_REPLY,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  let pages = 0;
  do {
    executor.bytes = 0;
    const page = await list({ limit: 1000, after });
    expect(Buffer.byteLength(JSON.stringify(page.items))).toBeLessThan(MAX_REPLY);
    expect(executor.bytes).toBeLessThan(maxRead);
    ids.push(...page.items.map(({ id }) => id));
    after = page.next;
    pages++;
  } while (after !== undefined);
  expect(pages).toBeGreaterThan(1);
  return ids;
}

describe('a page of a list has about so many bytes, which are all that is read, and the next one goes on behind it', () => {
  test.each([
    ['messages of one kind', { kinds: ['text'] }],
    ['messages of several kinds', { kinds: ['text', 'media'] }],
    ['messages under a name', { kinds: ['text'], sender: 'INFOS' }],
    ['messages in a state', { kinds: ['text'], status: 'queued' }],
    ['messages with metadata', { kinds: ['text'], metadata: { order: '1' } }],
    ['messages to a number', { kinds: ['text'], number: phone(0) }],
  ] as const)('%s', async (_name, query) => {
    const { storage, executor, outbox } = await setup();
    await storage.accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: COUNT, at: START });
    const sends = range(COUNT).map((index) =>
      aSend(index, {
        at: START + index,
        payload: { kind: 'text', text: TEXT },
        metadata: { order: '1' },
        recipients: [{ number: phone(0), units: 1 }],
      }),
    );
    await outbox.commit(sends, decide);
    const ids = await readAll(executor, (page) =>
      outbox.list({ accountId: ACCOUNT, channel: 'sms', ...query, ...page }),
    );
    expect(ids).toEqual(range(COUNT).map(messageId).reverse());
  });

  test('messages to many numbers, which are listed with them', async () => {
    const { storage, executor, outbox } = await setup();
    await storage.accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 100_000, at: START });
    const sends = range(700).map((index) => aSend(index, { at: START + index, recipients: recipients(100) }));
    for (let at = 0; at < sends.length; at += 50) await outbox.commit(sends.slice(at, at + 50), decide);
    const ids = await readAll(
      executor,
      async (page) => {
        const { items, next } = await outbox.list({ accountId: ACCOUNT, channel: 'sms', kinds: ['text'], ...page });
        // Each number is read with the id of its message.
        const numbers = await outbox.numbers(items.map(({ id }) => id));
        return { items: items.map((item) => ({ ...item, number: numbers.get(item.id) })), next };
      },
      2 * MAX_REPLY,
    );
    expect(ids).toEqual(range(700).map(messageId).reverse());
  });

  test.each([
    ['entries of the audit log', {}],
    ['entries of the audit log since a moment', { since: START }],
  ])('%s', async (_name, query) => {
    const { executor } = await setup();
    const log = new TypeormAuditLog(executor);
    for (const index of range(COUNT)) {
      const entry = { accountId: ACCOUNT, at: START + index, by: HOST, action: 'key.created' } as const;
      await log.record({ ...entry, target: `k${index}`, after: { name: TEXT } });
    }
    expect(await readAll(executor, (page) => log.list({ ...query, ...page }))).toHaveLength(COUNT);
  });

  test('calls of a webhook', async () => {
    const { storage, executor } = await setup();
    const endpoints = new TypeormEndpointStore(executor);
    const reply = 'x'.repeat(2048);
    for (const index of range(900)) {
      await storage.dataSource.query(
        `INSERT INTO messaging_endpoint_attempt (id, endpoint_id, first, last, sequences, at, ms, ok, status, error, reply)
          VALUES ('${messageId(index)}', 'e', ${index}, ${index}, '[${index}]', ${START + index}, 1, 0, 500, NULL, '${reply}')`,
      );
    }
    const ids = await readAll(executor, (page) => endpoints.attempts({ endpointId: 'e', ...page }));
    expect(ids).toEqual(range(900).map(messageId).reverse());
  });
});

describe('what a phone of the sandbox got', () => {
  test('is listed up to so many bytes, the newest of it', async () => {
    const { executor } = await setup();
    const phones = new TypeormPhoneStore(executor);
    const message = { channel: 'sms', from: 'INFOS', to: phone(0), text: TEXT, media: undefined };
    const messages = range(COUNT).map((index) => ({
      ...message,
      messageId: messageId(index),
      receivedAt: START + index,
    }));
    await phones.receive(messages);
    await phones.lose(messages.map((each) => ({ ...each, messageId: `lost-${each.messageId}` })));
    const lists = [() => phones.messages(phone(0)), () => phones.latest(500), () => phones.latest(500, phone(0))];
    for (const list of lists) {
      executor.bytes = 0;
      const items = await list();
      expect(items.length).toBeGreaterThan(20);
      expect(items.some(({ messageId: id }) => id.endsWith(messageId(COUNT - 1)))).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(MAX_REPLY);
      expect(executor.bytes).toBeLessThan(2 * MAX_REPLY);
    }
    const oldestFirst = (await phones.messages(phone(0))).map(({ receivedAt }) => receivedAt);
    expect(oldestFirst).toEqual(oldestFirst.toSorted((a, b) => a - b));
  });
});
