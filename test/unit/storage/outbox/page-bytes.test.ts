import { describe, expect, test } from '@jest/globals';
import type { Signature } from '../../../../src/accounts/account-records.js';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { AuditLog } from '../../../../src/accounts/audit/audit.js';
import { HOST } from '../../../../src/accounts/audit/audit-entry.js';
import { MAX_CIDRS, MAX_NAME, MAX_RECIPIENTS } from '../../../../src/accounts/keys/key.api.js';
import { MAX_DAILY_UNITS, MAX_PER_MINUTE } from '../../../../src/accounts/keys/key-definition.js';
import { KEY_SCOPES } from '../../../../src/accounts/keys/permissions.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { MAX_PAGE_BYTES, type Page, type PageRequest } from '../../../../src/common/listing/page.js';
import { EventLog } from '../../../../src/events/event-log.js';
import { EVENT_TYPES } from '../../../../src/events/event-types.js';
import { ManagedAccountStore } from '../../../../src/management/operator/accounts/managed-account-store.js';
import { ManagedSessionStore } from '../../../../src/management/operator/managed-session-store.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { HookInbox } from '../../../../src/sandbox/hooks/hook-inbox.js';
import { PhoneStore } from '../../../../src/sandbox/phones/phone-store.js';
import { OptOutStore } from '../../../../src/sms/opt-out/opt-out-store.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import { MAX_DESCRIPTION, MAX_WEBHOOK_URL } from '../../../../src/webhooks/endpoints/endpoint.api.js';
import { MAX_ENDPOINTS } from '../../../../src/webhooks/endpoints/endpoint-records.js';
import { EndpointStore } from '../../../../src/webhooks/endpoints/endpoint-store.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';
import { WatchedDatabase } from '../../../support/databases/watched-database.js';

/** The largest permitted page: the limit, one long text that begins within it, and short fields. */
const MAX_REPLY = 1.2 * MAX_PAGE_BYTES;
const TEXT = 'é'.repeat(20_000);
const COUNT = 90;

/** A character of three bytes in UTF-8. No text with as many UTF-16 units has more bytes. */
const WIDE = '€';

const KEY_ENDS = { expiresAt: START, revokedAt: START, family: 'f'.repeat(40), usedAt: START };
const PENDING = { status: 'pending', reason: undefined, createdAt: START, decidedAt: undefined } as const;

const opened = closeAfterEach();

async function setup() {
  const storage = opened(await SqliteMemory.open());
  const db = new WatchedDatabase(await databaseFor(storage.dataSource));
  return { storage, db, outbox: new OutboxStore(db) };
}

/** Reads all pages of a list. Each of them must be within the limit. */
async function readAll<T extends { readonly id: string }>(
  db: WatchedDatabase,
  list: (page: PageRequest) => Promise<Page<T>>,
  maxRead = MAX_REPLY,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  let pages = 0;
  do {
    db.readBytes = 0;
    const page = await list({ limit: 1000, after });
    expect(Buffer.byteLength(JSON.stringify(page.items))).toBeLessThan(MAX_REPLY);
    expect(db.readBytes).toBeLessThan(maxRead);
    ids.push(...page.items.map(({ id }) => id));
    after = page.next;
    pages++;
  } while (after !== undefined);
  expect(pages).toBeGreaterThan(1);
  return ids;
}

describe('a page of a list has a limited number of bytes, no more are read, and the next page follows it', () => {
  test.each([
    ['messages of one kind', { kinds: ['text'] }],
    ['messages of several kinds', { kinds: ['text', 'media'] }],
    ['messages under a name', { kinds: ['text'], sender: 'INFOS' }],
    ['messages in a state', { kinds: ['text'], status: 'queued' }],
    ['messages with metadata', { kinds: ['text'], metadata: { order: '1' } }],
    ['messages to a number', { kinds: ['text'], number: phone(0) }],
  ] as const)('%s', async (_name, query) => {
    const { storage, db, outbox } = await setup();
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: COUNT, at: START });
    const sends = range(COUNT).map((index) =>
      aSend(index, {
        at: START + index,
        payload: { kind: 'text', text: TEXT },
        metadata: { order: '1' },
        recipients: [{ number: phone(0), units: 1 }],
      }),
    );
    await outbox.commit(sends, decide);
    const ids = await readAll(db, (page) => outbox.list({ accountId: ACCOUNT, channel: 'sms', ...query, ...page }));
    expect(ids).toEqual(range(COUNT).map(messageId).reverse());
  });

  test('messages to many numbers, which are listed with them', async () => {
    const { storage, db, outbox } = await setup();
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage
      .store(LedgerStore)
      .post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 100_000, at: START });
    const sends = range(700).map((index) => aSend(index, { at: START + index, recipients: recipients(100) }));
    for (let at = 0; at < sends.length; at += 50) await outbox.commit(sends.slice(at, at + 50), decide);
    const ids = await readAll(
      db,
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
    ['entries of the audit log since a time', { since: START }],
  ])('%s', async (_name, query) => {
    const { db } = await setup();
    const log = new AuditLog(db);
    for (const index of range(COUNT)) {
      const entry = { accountId: ACCOUNT, at: START + index, by: HOST, action: 'key.created' } as const;
      await log.record({ ...entry, target: `k${index}`, after: { name: TEXT } });
    }
    expect(await readAll(db, (page) => log.list({ ...query, ...page }))).toHaveLength(COUNT);
  });

  test('calls of a webhook', async () => {
    const { storage, db } = await setup();
    const endpoints = new EndpointStore(db);
    const reply = 'x'.repeat(2048);
    for (const index of range(900)) {
      await storage.dataSource.query(
        `INSERT INTO messaging_endpoint_attempt (id, endpoint_id, first, last, sequences, at, ms, ok, status, error, reply)
          VALUES ('${messageId(index)}', 'e', ${index}, ${index}, '[${index}]', ${START + index}, 1, 0, 500, NULL, '${reply}')`,
      );
    }
    const ids = await readAll(db, (page) => endpoints.attempts({ endpointId: 'e', ...page }));
    expect(ids).toEqual(range(900).map(messageId).reverse());
  });

  test('entries of the ledger, whose notes may be long', async () => {
    const { storage, db } = await setup();
    const ledger = new LedgerStore(db);
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    for (const index of range(COUNT)) {
      const posting = { accountId: ACCOUNT, kind: 'topup', units: 1, note: TEXT, at: START + index } as const;
      await ledger.post({ id: messageId(index), ...posting });
    }
    for (const query of [{}, { kind: 'topup', since: START }] as const) {
      const ids = await readAll(db, (page) => ledger.entries(ACCOUNT, { ...query, ...page }));
      expect(ids).toEqual(range(COUNT).map(messageId).reverse());
    }
  });

  test('keys with the maximum number of address ranges', async () => {
    const { db } = await setup();
    const accounts = new AccountStore(db);
    const largest = {
      accountId: ACCOUNT,
      hash: 'f'.repeat(64),
      name: '😀'.repeat(MAX_NAME),
      scopes: KEY_SCOPES,
      cidrs: range(MAX_CIDRS).map((index) => `2001:0db8:85a3:0000:0000:8a2e:0370:${7000 + index}/128`),
      dailyUnits: MAX_DAILY_UNITS,
      perMinute: MAX_PER_MINUTE,
      recipients: range(MAX_RECIPIENTS).map((index) => `22670000${1_000_000 + index}`),
      confirmAbove: MAX_DAILY_UNITS,
    };
    for (const index of range(500)) {
      await accounts.addKey({ ...KEY_ENDS, ...largest, id: messageId(index), createdAt: START + index });
    }
    const ids = await readAll(db, (page) => accounts.listKeys(ACCOUNT, page));
    expect(ids).toEqual(range(500).map(messageId).reverse());
  });

  test('sender names that were rejected for long reasons, of one account and of all', async () => {
    const { db } = await setup();
    const accounts = new AccountStore(db);
    const names = range(COUNT).map((index) => `NAME ${100 + index}`);
    for (const [index, name] of names.entries()) {
      const times = { createdAt: START + index, decidedAt: START };
      await accounts.registerSignature({ accountId: ACCOUNT, name, status: 'rejected', reason: TEXT, ...times });
    }
    await accounts.registerSignature({ ...PENDING, accountId: ACCOUNT, name: 'NEW' });
    const named = (found: Page<Signature>) => ({
      ...found,
      items: found.items.map((each) => ({ ...each, id: each.name })),
    });
    const own = await readAll(db, async (page) => named(await accounts.listSignatures(ACCOUNT, page)));
    expect(own).toEqual([...names, 'NEW']);
    const managed = new ManagedAccountStore(db);
    let after: Signature | undefined;
    const all = await readAll(db, async ({ limit }) => {
      const { items, isLast } = await managed.signatures({ limit, after });
      after = items.at(-1);
      return named({ items, next: isLast ? undefined : after?.name });
    });
    expect(all).toEqual(['NEW', ...names]);
  });

  test('linked numbers that were lost for long reasons', async () => {
    const { storage, db } = await setup();
    for (const index of range(COUNT)) {
      await storage.dataSource.query(
        `INSERT INTO messaging_session (id, account_id, channel, status, reason, created_at, updated_at, steps, epoch)
          VALUES ('${messageId(index)}', '${ACCOUNT}', 'wa', 'failed', '${TEXT}', ${START + index}, 0, 0, 1)`,
      );
    }
    const sessions = new ManagedSessionStore(db);
    const ids = await readAll(db, (page) => sessions.list({ ...page }));
    expect(ids).toEqual(range(COUNT).map(messageId).reverse());
  });

  test('events with the longest texts, which a feed continues after', async () => {
    const { storage, db } = await setup();
    const data = JSON.stringify({ text: 'x'.repeat(8000) });
    for (const index of range(500)) {
      await storage.dataSource.query(
        `INSERT INTO messaging_event (account_id, sequence, type, at, data) VALUES ('${ACCOUNT}', ${index + 1}, 'sms.received', ${START}, '${data}')`,
      );
    }
    await storage.dataSource.query(
      `INSERT INTO messaging_event_counter (id, sequence, earliest, recording, used_at) VALUES ('${ACCOUNT}', 500, 1, 1, 0)`,
    );
    const log = new EventLog(db);
    for (const types of [undefined, ['sms.received']] as const) {
      // Events are read at once: at most 500, of at most 8 KiB.
      const list = async ({ limit, after = '0' }: PageRequest) => {
        const { events, nextAfter, last } = await log.readStored({
          accountId: ACCOUNT,
          after: Number(after),
          types,
          limit: Math.min(limit, 500),
        });
        const items = events.map((event) => ({ ...event, id: String(event.sequence) }));
        return { items, next: nextAfter < last ? String(nextAfter) : undefined };
      };
      expect(await readAll(db, list, 500 * 9000)).toEqual(range(500).map((index) => String(index + 1)));
    }
  });
});

describe('a page of 500 rows of maximum length is within the limit without measuring them', () => {
  /** Reads a page, which must be complete. */
  async function readWhole(list: (page: PageRequest) => Promise<Page<unknown>>, count: number): Promise<void> {
    const { items, next } = await list({ limit: 500 });
    expect([items.length, next]).toEqual([count, undefined]);
    expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(MAX_REPLY);
  }

  test('accounts, all of them and those whose id or name begins like this', async () => {
    const { db } = await setup();
    const accounts = new AccountStore(db);
    for (const index of range(500)) {
      const account = { id: messageId(index).padStart(64, 'a'), name: WIDE.repeat(MAX_NAME), createdAt: START + index };
      await accounts.createAccount(account);
    }
    const managed = new ManagedAccountStore(db);
    await readWhole((page) => accounts.listAccounts(page), 500);
    await readWhole((page) => managed.list({ ...page }), 500);
    await readWhole((page) => managed.list({ ...page, begins: 'a' }), 500);
    await readWhole((page) => managed.list({ ...page, begins: WIDE }), 500);
  });

  test('opt-outs, also those of erased numbers', async () => {
    const { db } = await setup();
    const optOuts = new OptOutStore(db);
    const entries = range(500).map(
      (index) =>
        ({
          id: messageId(index).padStart(64, 'a'),
          accountId: ACCOUNT.padEnd(64, 'a'),
          signature: 'N'.repeat(20),
          // A keyed hash is longer than any number.
          number: messageId(index).padStart(64, 'f'),
          source: 'phone',
          at: START + index,
        }) as const,
    );
    await optOuts.add(entries);
    await readWhole((page) => optOuts.list({ accountId: ACCOUNT.padEnd(64, 'a'), ...page }), 500);
  });

  test('endpoints, of which an account has few', async () => {
    const { storage, db } = await setup();
    const types = JSON.stringify(EVENT_TYPES);
    const versions = JSON.stringify(range(2).map((id) => ({ id, secret: 's'.repeat(500), endsAt: START })));
    for (const index of range(MAX_ENDPOINTS)) {
      await storage.dataSource.query(
        `INSERT INTO messaging_endpoint (id, account_id, url, types, ordering, batch_max, wait_ms, signature, versions, description,
            status, cursor_at, lease_until, epoch, created_at, updated_at)
          VALUES ('e-${index}', '${ACCOUNT}', '${'u'.repeat(MAX_WEBHOOK_URL)}', '${types}', 'none', 1, 0, 'hmac', '${versions}',
            '${WIDE.repeat(MAX_DESCRIPTION)}', 'enabled', 0, 0, 0, ${START + index}, 0)`,
      );
    }
    await readWhole((page) => new EndpointStore(db).list(ACCOUNT, page), MAX_ENDPOINTS);
  });
});

test('the sandbox shows the newest calls of an inbox, about 1 MB of them', () => {
  const inbox = new HookInbox();
  const body = 'x'.repeat(65_536);
  for (const at of range(100)) inbox.receive('a', { at, webhookId: '', verified: true, body });
  const calls = inbox.newestCalls('a');
  expect(Buffer.byteLength(JSON.stringify(calls))).toBeLessThan(MAX_REPLY);
  expect([calls.length > 10, calls[0]?.at]).toEqual([true, 99]);
});

describe('the messages of a sandbox phone', () => {
  test('are listed up to a limit in bytes, newest first', async () => {
    const { db } = await setup();
    const phones = new PhoneStore(db);
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
      db.readBytes = 0;
      const items = await list();
      expect(items.length).toBeGreaterThan(20);
      expect(items.some(({ messageId: id }) => id.endsWith(messageId(COUNT - 1)))).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(MAX_REPLY);
      expect(db.readBytes).toBeLessThan(2 * MAX_REPLY);
    }
    const oldestFirst = (await phones.messages(phone(0))).map(({ receivedAt }) => receivedAt);
    expect(oldestFirst).toEqual(oldestFirst.toSorted((a, b) => a - b));
  });
});
