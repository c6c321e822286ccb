import { AccountStore } from '../../../src/accounts/account-store.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { HOST } from '../../../src/accounts/audit/audit-entry.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { DAY_MS } from '../../../src/common/time.js';
import { UsageStore } from '../../../src/management/usage/usage-store.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import type { IdempotencyKey } from '../../../src/outbox/accept/send.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { RetentionStore } from '../../../src/outbox/retention/retention-store.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import type { SqliteMemory } from '../databases/sqlite-memory.js';

/** A mistake built into a storage in SQL, and the topic of the contract suite that must notice it. */
export interface StorageFault {
  readonly topic: string;
  readonly build: (storage: SqliteMemory) => void;
}

const sorted = (reply: object): object => Object.fromEntries(Object.entries(reply).sort());
const loose = (once: IdempotencyKey): IdempotencyKey => ({ ...once, key: once.key.trimEnd().toLowerCase() });

/** Mistakes that are easily made in an adapter, races aside. */
export const STORAGE_FAULTS: Readonly<Record<string, StorageFault>> = {
  'usage that forgets late commits': {
    topic: 'usage',
    build: (storage) => {
      const store = storage.store(UsageStore);
      const [usage, rollUp] = [store.usage.bind(store), store.rollUp.bind(store)];
      store.usage = (query) => usage({ ...query, now: query.now + 400 * DAY_MS });
      store.rollUp = (order) => rollUp({ ...order, verifyFrom: undefined });
    },
  },
  'an audit log that records requests without a change': {
    topic: 'audit log',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      const register = accounts.registerSignature.bind(accounts);
      accounts.registerSignature = async (signature, by = HOST) => {
        const stored = await register(signature, by);
        const entry = { accountId: signature.accountId, at: signature.createdAt, by, target: signature.name };
        await storage.store(AuditLog).record({ ...entry, action: 'signature.registered' });
        return stored;
      };
    },
  },
  'keys compared without case and trailing blanks': {
    topic: 'idempotency keys',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const commit = outbox.commit.bind(outbox);
      outbox.commit = (sends, ...rest) =>
        commit(
          sends.map(({ once, ...send }) => (once ? { ...send, once: loose(once) } : send)),
          ...rest,
        );
    },
  },
  'replies whose fields come back sorted': {
    topic: 'idempotency keys',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const commit = outbox.commit.bind(outbox);
      outbox.commit = async (...given) =>
        (await commit(...given)).map((each) =>
          each.kind === 'replayed' ? { ...each, reply: sorted(each.reply) } : each,
        );
    },
  },
  'a batch that is not one transaction': {
    topic: 'commit',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const commit = outbox.commit.bind(outbox);
      outbox.commit = async (sends, ...rest) => {
        const outcomes = [];
        for (const send of sends) outcomes.push(...(await commit([send], ...rest)));
        return outcomes;
      };
    },
  },
  'texts that are normalised': {
    topic: 'contents',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const commit = outbox.commit.bind(outbox);
      outbox.commit = (sends, ...rest) => commit(JSON.parse(JSON.stringify(sends).normalize('NFC')), ...rest);
    },
  },
  'takeovers that nobody requested': {
    topic: 'claims',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => claim({ ...order, abandoned: true });
    },
  },
  'claims that ignore accounts': {
    topic: 'priorities',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => {
        database.exec("UPDATE messaging_recipient SET queue = '' WHERE status = 'queued'");
        return claim(order);
      };
    },
  },
  'claims that ignore priorities': {
    topic: 'priorities',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = async (order) => {
        database.exec('UPDATE messaging_recipient SET units = units + 10 * priority, priority = 0');
        const claimed = await claim(order);
        database.exec('UPDATE messaging_recipient SET priority = round(units / 10.0), units = 1');
        return claimed;
      };
    },
  },
  'shares and turns that each batch counts anew': {
    topic: 'priorities',
    build: (storage) => {
      const { db } = storage;
      const outbox = storage.store(OutboxStore);
      outbox.claim = (order) => new OutboxStore(db).claim(order);
    },
  },
  'codes that share with the others': {
    topic: 'priorities',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => {
        database.exec("UPDATE messaging_recipient SET priority = -1 WHERE priority = -2 AND status = 'queued'");
        return claim(order);
      };
    },
  },
  'lanes in the order of acceptance alone': {
    topic: 'priorities',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => {
        database.exec(
          'UPDATE messaging_recipient SET lane_turn = lane_turn - (priority + 2) * (1 << 50) WHERE lane_turn > 1 << 51',
        );
        return claim(order);
      };
    },
  },
  'lanes whose next delivery does not wait for a retry': {
    topic: 'lanes',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = async (order) => {
        const asleep = "SET channel = ? || channel WHERE status = 'queued' AND due_at > ?";
        database.prepare(`UPDATE messaging_recipient ${asleep}`).run('asleep ', order.now);
        const claimed = await claim(order);
        database.exec("UPDATE messaging_recipient SET channel = replace(channel, 'asleep ', '')");
        return claimed;
      };
    },
  },
  'lanes in the order of their times and ids': {
    topic: 'lanes',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => {
        database.exec(`UPDATE messaging_recipient SET lane_turn =
          (SELECT m.accepted_at FROM messaging_message m WHERE m.id = message_id) WHERE lane IS NOT NULL`);
        return claim(order);
      };
    },
  },
  'settlements without a fence': {
    topic: 'settle',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const settle = outbox.settle.bind(outbox);
      outbox.settle = (settlements) => settle(settlements.map(({ attempt: _, ...rest }) => rest));
    },
  },
  'refunds that are not booked': {
    topic: 'refunds',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER INSERT ON messaging_ledger WHEN NEW.kind = 'refund' BEGIN
        DELETE FROM messaging_ledger WHERE id = NEW.id; END`);
    },
  },
  'refunds of half the price': {
    topic: 'a long walk',
    build: ({ database, rewrite }) => {
      database.exec(`CREATE TRIGGER fault AFTER INSERT ON messaging_ledger WHEN NEW.kind = 'refund' BEGIN
        UPDATE messaging_ledger SET units = units / 2 WHERE id = NEW.id; END`);
      rewrite('SET balance = balance + ? WHERE', 'SET balance = balance + ? / 2 WHERE');
    },
  },
  'expiry of other states than requested': {
    topic: 'expire',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const expire = outbox.expire.bind(outbox);
      outbox.expire = (order) => expire({ ...order, statuses: ['sent', 'sending'] });
    },
  },
  'a next due time that considers only queued deliveries': {
    topic: 'next due',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const first = "SELECT min(due_at) FROM messaging_recipient WHERE channel = ? AND status = 'queued'";
      outbox.nextDue = async (channel) => (database.prepare(first).pluck().get(channel) ?? undefined) as number;
    },
  },
  'pages by offset': {
    topic: 'listings',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const list = outbox.list.bind(outbox);
      outbox.list = async ({ after, limit, ...query }) => {
        const { items } = await list({ ...query, limit: 1000 });
        const end = Number(after ?? 0) + limit;
        return { items: items.slice(end - limit, end), next: end < items.length ? String(end) : undefined };
      };
    },
  },
  'a state of one recipient and the number of another': {
    topic: 'listings',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const list = outbox.list.bind(outbox);
      outbox.list = async ({ status, ...query }) => {
        const page = await list({ ...query, limit: 1000 });
        const { items } = await list({ ...query, number: undefined, status, limit: 1000 });
        const found = page.items.filter(({ id }) => items.some((each) => each.id === id));
        return { items: found.slice(0, query.limit), next: found[query.limit] && found[query.limit - 1]?.id };
      };
    },
  },
  'states as the worker sees them': {
    topic: 'listings',
    build: ({ rewrite }) => {
      rewrite("r.status = 'queued' AND r.error IS NULL", "r.status = 'queued'");
      rewrite("OR (r.status = 'queued' AND r.error IS NOT NULL)", '');
    },
  },
  'lists of numbers without a limit': {
    topic: 'listings',
    build: ({ rewrite }) => {
      rewrite('AND position < ? ORDER BY message_id, position', 'AND ? > 0 ORDER BY message_id, position');
    },
  },
  'reports that count as attempts': {
    topic: 'trail',
    build: (storage) => {
      const { database } = storage;
      const outbox = storage.store(OutboxStore);
      const read = outbox.recipientPage.bind(outbox);
      const steps = 'SELECT count(*) FROM messaging_trail WHERE message_id = ? AND position = ?';
      outbox.recipientPage = async (id, query) => {
        const { items, ...page } = await read(id, query);
        const count = (position: number) => Number(database.prepare(steps).pluck().get(id, position));
        return { ...page, items: items.map((item) => ({ ...item, attemptsCount: count(item.position) })) };
      };
    },
  },
  'postings without a ceiling': {
    topic: 'ledger',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER UPDATE OF posted ON messaging_account BEGIN
        UPDATE messaging_account SET posted = 0 WHERE id = NEW.id; END`);
    },
  },
  'a ceiling that forgets what may be refunded': {
    topic: 'ledger',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER UPDATE OF balance ON messaging_account BEGIN
        UPDATE messaging_account SET posted = balance WHERE id = NEW.id; END`);
    },
  },
  "other accounts' messages in sight": {
    topic: 'listings',
    build: ({ rewrite }) => {
      rewrite('WHERE id = ? AND account_id = ? AND channel = ?', 'WHERE id = ? AND ? IS NOT NULL AND channel = ?');
    },
  },
  'a purge beyond its limit': {
    topic: 'kept replies',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const purge = outbox.purgeReplies.bind(outbox);
      outbox.purgeReplies = (now, limit) => purge(now, limit * 2);
    },
  },
  'postings whose repeats are posted again': {
    topic: 'ledger',
    build: (storage) => {
      const { database } = storage;
      const ledger = storage.store(LedgerStore);
      const post = ledger.post.bind(ledger);
      const forget = "UPDATE messaging_ledger SET id = 'before ' || hex(randomblob(8)) WHERE id = ?";
      ledger.post = (posting) => {
        database.prepare(forget).run(posting.id);
        return post(posting);
      };
    },
  },
  'repeats that differ from the first posting': {
    topic: 'ledger',
    build: (storage) => {
      const ledger = storage.store(LedgerStore);
      const post = ledger.post.bind(ledger);
      ledger.post = async (posting) => {
        const answer = await post(posting);
        return answer === 'taken' ? 'repeated' : answer;
      };
    },
  },
  'a check that overlooks debts, messages without a charge and failures without a refund': {
    topic: 'books',
    build: (storage) => {
      const ledger = storage.store(LedgerStore);
      const check = ledger.check.bind(ledger);
      ledger.check = async () =>
        (await check()).filter((sentence) => !/negative|no charge|not refunded/.test(sentence));
    },
  },
  'a check that sees nothing': {
    topic: 'books',
    build: (storage) => {
      const ledger = storage.store(LedgerStore);
      ledger.check = async () => [];
    },
  },
  'phone messages that replace one another': {
    topic: 'phones',
    build: ({ rewrite }) => {
      rewrite('INSERT INTO messaging_phone_message', 'INSERT OR REPLACE INTO messaging_phone_message');
      rewrite('ON CONFLICT (number, channel, message_id) DO NOTHING', '');
    },
  },
  'receipts matched by any of their ids': {
    topic: 'parts and receipts',
    build: (storage) => {
      const parts = storage.store(PartStore);
      const receive = parts.receive.bind(parts);
      parts.receive = (receipts, ...rest) =>
        receive(
          receipts.map((receipt) => ({ ...receipt, ids: receipt.ids.toReversed() })),
          ...rest,
        );
    },
  },
  'deadlines that no receipt ends': {
    topic: 'parts and receipts',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER UPDATE OF due_at ON messaging_recipient
        WHEN NEW.due_at IS NULL AND NEW.status = 'sent' BEGIN
        UPDATE messaging_recipient SET due_at = OLD.due_at
          WHERE message_id = NEW.message_id AND position = NEW.position; END`);
    },
  },
  'receipts that are not kept for later': {
    topic: 'parts and receipts',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault BEFORE INSERT ON messaging_sms_parked BEGIN SELECT RAISE(IGNORE); END`);
    },
  },
  'leases that end a moment late': {
    topic: 'leases of sessions',
    build: (storage) => {
      const sessions = storage.store(SessionStore);
      const lease = sessions.lease.bind(sessions);
      sessions.lease = (id, owner, now, until) => lease(id, owner, now - 1, until);
    },
  },
  'leases whose holder writes on after it has given them back': {
    topic: 'leases of sessions',
    build: (storage) => {
      const { database } = storage;
      const sessions = storage.store(SessionStore);
      const release = database.prepare('UPDATE messaging_session SET lease_until = 0 WHERE id = ?');
      sessions.release = async ({ sessionId }) => void release.run(sessionId);
    },
  },
  'epochs that are given twice': {
    topic: 'leases of sessions',
    build: (storage) => {
      const { database } = storage;
      const sessions = storage.store(SessionStore);
      const release = sessions.release.bind(sessions);
      const giveBack = database.prepare('UPDATE messaging_session SET epoch = ? WHERE id = ?');
      sessions.release = async (lease) => {
        await release(lease);
        giveBack.run(lease.epoch - 1, lease.sessionId);
      };
    },
  },
  'limits of sessions that each process keeps for itself': {
    topic: 'limits of sessions',
    build: (storage) => {
      const sessions = storage.store(SessionStore);
      const create = sessions.create.bind(sessions);
      sessions.create = (session) => create(session);
    },
  },
  'steps from any state': {
    topic: 'sessions',
    build: (storage) => {
      const { database } = storage;
      const sessions = storage.store(SessionStore);
      const move = sessions.move.bind(sessions);
      sessions.move = (lease, step) => {
        database.exec("UPDATE messaging_session SET status = 'created' WHERE status = 'reconnecting'");
        return move(lease, step);
      };
    },
  },
  'lists of sessions without a limit': {
    topic: 'sessions',
    build: (storage) => {
      const sessions = storage.store(SessionStore);
      const list = sessions.list.bind(sessions);
      sessions.list = (accountId, channel) => list(accountId, channel, Number.MAX_SAFE_INTEGER);
    },
  },
  'lists of sessions that are limited as a whole': {
    topic: 'sessions',
    build: (storage) => {
      const sessions = storage.store(SessionStore);
      const list = sessions.list.bind(sessions);
      sessions.list = async (accountId, channel, ended) => (await list(accountId, channel, 99)).slice(0, ended);
    },
  },
  'sessions that are deleted with messages in their lane': {
    topic: 'age of sessions',
    build: ({ rewrite }) => rewrite('r.channel = a.channel AND r.lane = a.id)', '0)'),
  },
  'steps that are kept without a limit': {
    topic: 'age of sessions',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault BEFORE DELETE ON messaging_session_step BEGIN SELECT RAISE(IGNORE); END`);
    },
  },
  'credentials that outlive their session': {
    topic: 'sessions',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault BEFORE DELETE ON messaging_session_credential
        WHEN (SELECT lease_until FROM messaging_session WHERE id = OLD.session_id) IS NULL BEGIN
        SELECT RAISE(IGNORE); END`);
    },
  },
  'credential ids compared without case and trailing blanks': {
    topic: 'credentials of sessions',
    build: (storage) => {
      const sessions = storage.store(SessionStore);
      const write = sessions.writeCredentials.bind(sessions);
      sessions.writeCredentials = (lease, changes) =>
        write(
          lease,
          changes.map(({ id, ...rest }) => ({ ...rest, id: id.trimEnd().toLowerCase() })),
        );
    },
  },
  'files that can be read before they are complete': {
    topic: 'media',
    build: (storage) => {
      const { database } = storage;
      const media = storage.store(MediaStore);
      const known = database.prepare('SELECT id FROM messaging_media WHERE id = ?');
      const chunks = database.prepare('SELECT content FROM messaging_media_chunk WHERE media_id = ? ORDER BY place');
      media.read = async function* (id) {
        if (!known.get(id)) throw new Error('The file is not stored.');
        yield* chunks.pluck().all(id) as Uint8Array[];
      };
    },
  },
  'files whose chunks share memory with their source': {
    topic: 'media',
    build: (storage) => {
      const media = storage.store(MediaStore);
      const [write, read] = [media.write.bind(media), media.read.bind(media)];
      const given = new Map<string, Uint8Array[]>();
      media.write = (id, chunks, at) => {
        async function* seen() {
          for await (const chunk of chunks) {
            given.set(id, [...(given.get(id) ?? []), chunk]);
            yield chunk;
          }
        }
        return write(id, seen(), at);
      };
      media.read = async function* (id) {
        const kept: Uint8Array[] = [];
        for await (const chunk of read(id)) kept.push(chunk);
        yield* given.get(id) ?? kept;
      };
    },
  },
  'files that are purged before their message is sent': {
    topic: 'media',
    build: ({ rewrite }) => rewrite('WHERE r.message_id = a.id', 'WHERE 0'),
  },
  'files that end early when they are removed': {
    topic: 'media',
    build: (storage) => {
      const media = storage.store(MediaStore);
      const read = media.read.bind(media);
      media.read = async function* (id) {
        let some = false;
        try {
          for await (const chunk of read(id)) {
            some = true;
            yield chunk;
          }
        } catch (error) {
          if (!some) throw error;
        }
      };
    },
  },
  'account ids without case': {
    topic: 'accounts',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      const create = accounts.createAccount.bind(accounts);
      accounts.createAccount = (account) => create({ ...account, id: account.id.toLowerCase() });
    },
  },
  'key ends that the last call decides': {
    topic: 'API keys',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      const rotate = accounts.rotateKey.bind(accounts);
      const find = accounts.findKey.bind(accounts);
      let end: number | undefined;
      accounts.rotateKey = (id, key, endsAt, ...rest) => {
        end = endsAt;
        return rotate(id, key, endsAt, ...rest);
      };
      accounts.findKey = async (id) => {
        const key = await find(id);
        return key && { ...key, expiresAt: end ?? key.expiresAt };
      };
    },
  },
  'caps of keys that nobody counts': {
    topic: 'caps of keys',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const commit = outbox.commit.bind(outbox);
      outbox.commit = (sends, decide, ...rest) =>
        commit(sends, (all, seen) => ({ ...decide(all, seen), keySpending: new Map() }), ...rest);
    },
  },
  'caps of keys that each key has for itself': {
    topic: 'caps of keys',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const commit = outbox.commit.bind(outbox);
      outbox.commit = (sends, ...rest) =>
        commit(
          sends.map((send) => (send.key ? { ...send, key: { ...send.key, family: send.key.id } } : send)),
          ...rest,
        );
    },
  },
  'spending of keys that is purged including the last day': {
    topic: 'caps of keys',
    build: (storage) => {
      const outbox = storage.store(OutboxStore);
      const purge = outbox.purgeKeySpending.bind(outbox);
      outbox.purgeKeySpending = (until, limit) => purge(until + 1, limit);
    },
  },
  'keys without their addresses': {
    topic: 'API keys',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      const find = accounts.findKey.bind(accounts);
      accounts.findKey = async (id) => {
        const key = await find(id);
        return key && { ...key, cidrs: undefined };
      };
    },
  },
  'signatures that are all listed on every page': {
    topic: 'signatures',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      const list = accounts.listSignatures.bind(accounts);
      accounts.listSignatures = (accountId) => list(accountId, { limit: 1000 });
    },
  },
  'signatures that an account may use before they are verified': {
    topic: 'signatures',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      accounts.verifiedSignatures = async (accountId) => {
        const { items } = await accounts.listSignatures(accountId, { limit: 1000 });
        return items.map(({ name }) => name);
      };
    },
  },
  'signatures that a second registration makes pending again': {
    topic: 'signatures',
    build: (storage) => {
      const accounts = storage.store(AccountStore);
      const register = accounts.registerSignature.bind(accounts);
      accounts.registerSignature = async (signature) => {
        await register(signature);
        const { accountId, name } = signature;
        await accounts.decideSignature(accountId, name, 'pending', undefined, signature.createdAt);
        return signature;
      };
    },
  },
  'texts that are removed before they are sent': {
    topic: 'retention',
    build: ({ rewrite }) => rewrite('r.position < v.high', 'r.position < v.high AND 0'),
  },
  'messages whose recipients are removed without a mark': {
    topic: 'retention',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER DELETE ON messaging_recipient BEGIN
        UPDATE messaging_message SET removed_at = NULL WHERE id = OLD.message_id; END`);
    },
  },
  'messages that are removed with their recipients': {
    topic: 'retention',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER DELETE ON messaging_recipient BEGIN
        DELETE FROM messaging_message WHERE id = OLD.message_id; END`);
    },
  },
  'messages that one purge removes completely': {
    topic: 'retention',
    build: (storage) => {
      const retention = storage.store(RetentionStore);
      const purge = retention.purgeMessages.bind(retention);
      retention.purgeMessages = (order, remove) => purge({ ...order, limit: order.limit * 2 }, remove);
    },
  },
  'purges that never look again at messages that were under way': {
    topic: 'retention',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER UPDATE ON messaging_retention BEGIN
        UPDATE messaging_retention SET skipped = NULL WHERE name = NEW.name; END`);
      database.exec(`CREATE TRIGGER fault_too AFTER INSERT ON messaging_retention BEGIN
        UPDATE messaging_retention SET skipped = NULL WHERE name = NEW.name; END`);
    },
  },
  'histories that are removed without regard to their place': {
    topic: 'retention',
    build: ({ rewrite }) =>
      rewrite('DELETE FROM messaging_trail WHERE id <= ?', 'DELETE FROM messaging_trail WHERE id > 0 * ?'),
  },
  'numbers that are erased while they are under way': {
    topic: 'erasure',
    build: ({ rewrite }) => rewrite('WHERE r.number = ? AND r.due_at IS NULL', 'WHERE r.number = ?'),
  },
  'errors that still quote an erased number': {
    topic: 'erasure',
    build: ({ rewrite }) => rewrite('error = NULL', 'error = error'),
  },
  'erased numbers that a search still finds': {
    topic: 'erasure',
    build: ({ database }) => {
      database.exec('CREATE TRIGGER fault BEFORE DELETE ON messaging_sent_to BEGIN SELECT RAISE(IGNORE); END');
    },
  },
  'texts that are removed with the first of their numbers': {
    topic: 'erasure',
    build: ({ rewrite }) => rewrite("AND r.number NOT LIKE '*%'", 'AND 0'),
  },
  'walks that leave out the end of a page': {
    topic: 'erasure',
    build: ({ rewrite }) => rewrite('OR r.position <= ?) AND r.number = ?', 'OR r.position < ?) AND r.number = ?'),
  },
  'keys that are deleted with a number': {
    topic: 'erasure',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault AFTER UPDATE ON messaging_idempotency BEGIN
        DELETE FROM messaging_idempotency WHERE idempotency_key = NEW.idempotency_key; END`);
    },
  },
  'lists that count as hashed from the beginning': {
    topic: 'erasure',
    build: ({ rewrite }) => rewrite('coalesce(messaging_opt_out_list.hashed_at, ?)', '?'),
  },
  'texts that are new each time': {
    topic: 'received texts',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault BEFORE INSERT ON messaging_sms_received BEGIN
        DELETE FROM messaging_sms_received WHERE id = NEW.id; END`);
    },
  },
  'texts that are remembered beyond their time': {
    topic: 'received texts',
    build: ({ rewrite }) => rewrite('AND expires_at <= ?', 'AND expires_at < ?'),
  },
  'answers that go to the first account that ever wrote': {
    topic: 'received texts',
    build: ({ rewrite }) => rewrite('ORDER BY w.sent_at DESC', 'ORDER BY w.sent_at'),
  },
  'long texts that are passed on without their newest part': {
    topic: 'received texts',
    build: ({ rewrite }) => rewrite('WHERE id = ? AND revision = ?', "WHERE id = ? AND '' <> ?"),
  },
  'parts whose repeats begin another text': {
    topic: 'received texts',
    build: ({ rewrite }) => rewrite('n.expires_at > ?) AS known', 'n.expires_at < ?) AS known'),
  },
  'long texts of which the newest are passed on': {
    topic: 'received texts',
    build: ({ rewrite }) => rewrite('OVER (ORDER BY s.expires_at DESC', 'OVER (ORDER BY s.expires_at'),
  },
  'contacts that are purged too late': {
    topic: 'contacts',
    build: ({ rewrite }) => rewrite('WHERE c.seen_at < ?', 'WHERE c.seen_at < ? - 1'),
  },
  'contacts of another account': {
    topic: 'contacts',
    build: ({ rewrite }) => rewrite('c.id = ? AND c.account_id = ?', "c.id = ? AND '' <> ?"),
  },
  'acts of any session': {
    topic: 'acts on received messages',
    build: ({ rewrite }) => rewrite('WHERE a.session_id IN', "WHERE '' <> ? OR a.session_id IN"),
  },
  'messages that are new each time': {
    topic: 'received messages',
    build: ({ database }) => {
      database.exec(`CREATE TRIGGER fault2 BEFORE INSERT ON messaging_msgapp_received BEGIN
        DELETE FROM messaging_msgapp_received WHERE name = NEW.name; END`);
    },
  },
  'addresses that stay as they were first learned': {
    topic: 'addresses of numbers',
    build: ({ rewrite }) =>
      rewrite('DO UPDATE SET address = excluded.address, learned_at = excluded.learned_at', 'DO NOTHING'),
  },
  'right addresses that are deleted with wrong ones': {
    topic: 'addresses of numbers',
    build: ({ rewrite }) => rewrite('AND app = ? AND address = ?', "AND app = ? AND '' <> ?"),
  },
  'erased numbers whose files can be fetched': {
    topic: 'received messages',
    build: ({ rewrite }) => rewrite('contact_id = NULL, file = NULL,', 'contact_id = NULL,'),
  },
};
