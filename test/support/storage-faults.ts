import { isFinal, type SessionTransition } from '../../src/msgapp/sessions/session-store.js';
import type { IdempotencyKey } from '../../src/outbox/send.js';
import type { OpenMemoryStorage } from './open-memory-storage.js';

/** A mistake built into a memory storage, and the topic of the contract suite that must notice it. */
export interface StorageFault {
  readonly topic: string;
  readonly build: (storage: OpenMemoryStorage) => void;
}

const loose = (once: IdempotencyKey): IdempotencyKey => ({ ...once, key: once.key.trimEnd().toLowerCase() });

/** Mistakes that are easily made in an adapter, races aside. */
export const STORAGE_FAULTS: Readonly<Record<string, StorageFault>> = {
  'keys compared without case and trailing blanks': {
    topic: 'idempotency keys',
    build: ({ outbox }) => {
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
    build: ({ rows }) => {
      const set = rows.replies.set.bind(rows.replies);
      rows.replies.set = (id, row) => {
        const fields = Object.entries(JSON.parse(row.reply)).sort();
        return set(id, { ...row, reply: JSON.stringify(Object.fromEntries(fields)) });
      };
    },
  },
  'a batch that is not one transaction': {
    topic: 'commit',
    build: ({ outbox }) => {
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
    build: ({ outbox }) => {
      const commit = outbox.commit.bind(outbox);
      outbox.commit = (sends, ...rest) => commit(JSON.parse(JSON.stringify(sends).normalize('NFC')), ...rest);
    },
  },
  'takeovers nobody asked for': {
    topic: 'claims',
    build: ({ outbox }) => {
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => claim({ ...order, abandoned: true });
    },
  },
  'lanes whose next delivery does not wait for a retry': {
    topic: 'lanes',
    build: ({ outbox, rows }) => {
      const claim = outbox.claim.bind(outbox);
      outbox.claim = async (order) => {
        const asleep = [...rows.waiting].filter(({ status, dueAt }) => status === 'queued' && (dueAt ?? 0) > order.now);
        for (const row of asleep) rows.waiting.delete(row);
        const claimed = await claim(order);
        for (const row of asleep) rows.waiting.add(row);
        return claimed;
      };
    },
  },
  'lanes in the order of their times and ids': {
    topic: 'lanes',
    build: ({ outbox, rows }) => {
      const claim = outbox.claim.bind(outbox);
      outbox.claim = (order) => {
        const waiting = [...rows.waiting].sort((a, b) => {
          const [one, other] = [a.message, b.message];
          return one.acceptedAt - other.acceptedAt || (one.id < other.id ? -1 : 1) || a.position - b.position;
        });
        rows.waiting.clear();
        for (const row of waiting) rows.waiting.add(row);
        return claim(order);
      };
    },
  },
  'settlements without a fence': {
    topic: 'settle',
    build: ({ outbox }) => {
      const settle = outbox.settle.bind(outbox);
      outbox.settle = (settlements) => settle(settlements.map(({ attempt: _, ...rest }) => rest));
    },
  },
  'refunds that are not booked': {
    topic: 'refunds',
    build: ({ rows }) => {
      const book = rows.book.bind(rows);
      rows.book = (entry) => (entry.kind === 'refund' ? undefined : book(entry));
    },
  },
  'refunds of half the price': {
    topic: 'a long walk',
    build: ({ rows }) => {
      const book = rows.book.bind(rows);
      rows.book = (entry) => book(entry.kind === 'refund' ? { ...entry, units: Math.floor(entry.units / 2) } : entry);
    },
  },
  'expiry of states that were not asked for': {
    topic: 'expire',
    build: ({ outbox }) => {
      const expire = outbox.expire.bind(outbox);
      outbox.expire = (order) => expire({ ...order, statuses: ['sent', 'sending'] });
    },
  },
  'a next due time that looks at the queue alone': {
    topic: 'next due',
    build: ({ outbox, rows }) => {
      outbox.nextDue = async (channel) => {
        const queued = [...rows.waiting].filter((row) => row.status === 'queued' && row.message.channel === channel);
        return queued.length === 0 ? undefined : Math.min(...queued.map(({ dueAt }) => dueAt ?? 0));
      };
    },
  },
  'pages by offset': {
    topic: 'listings',
    build: ({ outbox }) => {
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
    build: ({ outbox }) => {
      const list = outbox.list.bind(outbox);
      outbox.list = async ({ status, ...query }) => {
        const page = await list({ ...query, limit: 1000 });
        const { items } = await list({ ...query, number: undefined, status, limit: 1000 });
        const found = page.items.filter(({ id }) => items.some((each) => each.id === id));
        return { items: found.slice(0, query.limit), next: found[query.limit] && found[query.limit - 1]?.id };
      };
    },
  },
  'states as the worker knows them': {
    topic: 'listings',
    build: ({ rows, outbox }) => {
      const list = outbox.list.bind(outbox);
      outbox.list = async (query) => {
        const again = [...rows.messages.values()].flatMap(({ deliveries }) => deliveries);
        const errors = again.map(({ error }) => error);
        for (const row of again) row.error = undefined;
        const page = await list(query);
        for (const [index, row] of again.entries()) row.error = errors[index];
        return page;
      };
    },
  },
  'numbers without end': {
    topic: 'listings',
    build: ({ rows, outbox }) => {
      outbox.numbers = async (ids) =>
        new Map(ids.map((id) => [id, (rows.messages.get(id)?.deliveries ?? []).map(({ number }) => number)]));
    },
  },
  'reports that count as attempts': {
    topic: 'trail',
    build: ({ rows, outbox }) => {
      const read = outbox.recipientPage.bind(outbox);
      outbox.recipientPage = async (id, query) => {
        const { items, ...page } = await read(id, query);
        const trails = rows.messages.get(id)?.deliveries.map(({ trail }) => trail) ?? [];
        return {
          ...page,
          items: items.map((item) => ({ ...item, attemptsCount: trails[item.position]?.length ?? 0 })),
        };
      };
    },
  },
  'postings without a ceiling': {
    topic: 'ledger',
    build: ({ rows }) => {
      rows.posted.get = () => 0;
    },
  },
  'a ceiling that forgets what may be refunded': {
    topic: 'ledger',
    build: ({ rows }) => {
      rows.posted.get = (id) => rows.balances.get(id);
    },
  },
  "other accounts' messages in sight": {
    topic: 'listings',
    build: ({ outbox, rows }) => {
      const find = outbox.find.bind(outbox);
      outbox.find = (_, channel, id) => find(rows.messages.get(id)?.accountId ?? '', channel, id);
    },
  },
  'a purge beyond its limit': {
    topic: 'kept replies',
    build: ({ outbox }) => {
      const purge = outbox.purgeReplies.bind(outbox);
      outbox.purgeReplies = (now, limit) => purge(now, limit * 2);
    },
  },
  'postings whose repeats are posted again': {
    topic: 'ledger',
    build: ({ rows }) => {
      rows.entries.get = () => undefined;
    },
  },
  'repeats that may be anything': {
    topic: 'ledger',
    build: ({ ledger }) => {
      const post = ledger.post.bind(ledger);
      ledger.post = async (posting) => {
        const answer = await post(posting);
        return answer === 'taken' ? 'repeated' : answer;
      };
    },
  },
  'postings that are not known by their former id': {
    topic: 'ledger',
    build: ({ ledger }) => {
      const post = ledger.post.bind(ledger);
      ledger.post = ({ formerId: _, ...posting }) => post(posting);
    },
  },
  'charges and refunds that stand for a former id': {
    topic: 'ledger',
    build: ({ ledger, rows }) => {
      const post = ledger.post.bind(ledger);
      ledger.post = async (posting) => (rows.entries.has(posting.formerId ?? '') ? 'repeated' : post(posting));
    },
  },
  'a check that overlooks debts, messages without a charge and failures without a refund': {
    topic: 'books',
    build: ({ ledger }) => {
      const check = ledger.check.bind(ledger);
      ledger.check = async () =>
        (await check()).filter((sentence) => !/negative|no charge|not refunded/.test(sentence));
    },
  },
  'a check that sees nothing': {
    topic: 'books',
    build: ({ ledger }) => {
      ledger.check = async () => [];
    },
  },
  'phone messages that replace one another': {
    topic: 'phones',
    build: ({ rows }) => {
      rows.phones.has = () => false;
    },
  },
  'receipts matched by any of their ids': {
    topic: 'parts and receipts',
    build: ({ parts }) => {
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
    build: ({ outbox }) => {
      const settle = outbox.settle.bind(outbox);
      outbox.settle = (settlements) => settle(settlements.filter(({ dueAt }) => dueAt !== null));
    },
  },
  'receipts that are not kept for later': {
    topic: 'parts and receipts',
    build: ({ rows }) => {
      rows.parts.parked.set = () => rows.parts.parked;
    },
  },
  'leases that end a moment late': {
    topic: 'leases of sessions',
    build: ({ sessions }) => {
      const lease = sessions.lease.bind(sessions);
      sessions.lease = (id, owner, now, until) => lease(id, owner, now - 1, until);
    },
  },
  'leases whose holder writes on after it has given them back': {
    topic: 'leases of sessions',
    build: ({ sessions, rows }) => {
      sessions.release = async ({ sessionId }) => {
        Object.assign(rows.sessions.get(sessionId) ?? {}, { leaseUntil: 0 });
      };
    },
  },
  'epochs that are given twice': {
    topic: 'leases of sessions',
    build: ({ sessions, rows }) => {
      const release = sessions.release.bind(sessions);
      sessions.release = async (lease) => {
        await release(lease);
        Object.assign(rows.sessions.get(lease.sessionId) ?? {}, { epoch: lease.epoch - 1 });
      };
    },
  },
  'limits of sessions that each process keeps for itself': {
    topic: 'limits of sessions',
    build: ({ sessions }) => {
      const create = sessions.create.bind(sessions);
      sessions.create = (session) => create(session);
    },
  },
  'steps from anywhere': {
    topic: 'sessions',
    build: ({ sessions, rows }) => {
      const move = sessions.move.bind(sessions);
      sessions.move = async (lease, step) => {
        const row = rows.sessions.get(lease.sessionId);
        if (row?.session.status === 'reconnecting') row.session = { ...row.session, status: 'created' };
        return move(lease, step);
      };
    },
  },
  'lists of sessions without bound': {
    topic: 'sessions',
    build: ({ sessions }) => {
      const list = sessions.list.bind(sessions);
      sessions.list = (accountId, channel) => list(accountId, channel, Number.POSITIVE_INFINITY);
    },
  },
  'lists of sessions that are bounded as a whole': {
    topic: 'sessions',
    build: ({ sessions }) => {
      const list = sessions.list.bind(sessions);
      sessions.list = async (accountId, channel, ended) => (await list(accountId, channel, 99)).slice(0, ended);
    },
  },
  'sessions that are forgotten with messages in their lane': {
    topic: 'age of sessions',
    build: ({ sessions, rows }) => {
      sessions.purge = async (before, limit) => {
        const old = [...rows.sessions.values()].filter(({ session }) => session.updatedAt < before);
        const ended = old.filter(({ session }) => isFinal(session.status)).slice(0, limit);
        for (const { session } of ended) rows.sessions.delete(session.id);
        return ended.length;
      };
    },
  },
  'steps that are kept without bound': {
    topic: 'age of sessions',
    build: ({ sessions, rows }) => {
      const move = sessions.move.bind(sessions);
      const taken: SessionTransition[] = [];
      sessions.move = async (lease, step) => {
        const isTaken = await move(lease, step);
        const transitions = rows.sessions.get(lease.sessionId)?.transitions;
        taken.push(...(transitions?.slice(-1) ?? []));
        if (taken.length > 200) transitions?.splice(0, transitions.length, ...taken);
        return isTaken;
      };
    },
  },
  'credentials that outlive their session': {
    topic: 'sessions',
    build: ({ sessions, rows }) => {
      const move = sessions.move.bind(sessions);
      sessions.move = async (lease, step) => {
        const kept = new Map(rows.sessions.get(lease.sessionId)?.credentials);
        const moved = await move(lease, step);
        for (const [key, value] of kept) rows.sessions.get(lease.sessionId)?.credentials.set(key, value);
        return moved;
      };
    },
  },
  'credential ids compared without case and trailing blanks': {
    topic: 'credentials of sessions',
    build: ({ sessions }) => {
      const write = sessions.writeCredentials.bind(sessions);
      sessions.writeCredentials = (lease, changes) =>
        write(
          lease,
          changes.map(({ id, ...rest }) => ({ ...rest, id: id.trimEnd().toLowerCase() })),
        );
    },
  },
  'files that can be read before they are whole': {
    topic: 'media',
    build: ({ rows }) => {
      const set = rows.media.set.bind(rows.media);
      rows.media.set = (id, file) => set(id, Object.assign(file, { whole: true }));
    },
  },
  'files whose chunks share memory with their source': {
    topic: 'media',
    build: ({ media, rows }) => {
      const write = media.write.bind(media);
      media.write = async (id, chunks, at) => {
        const given: Uint8Array[] = [];
        async function* seen() {
          for await (const chunk of chunks) {
            given.push(chunk);
            yield chunk;
          }
        }
        await write(id, seen(), at);
        rows.media.get(id)?.chunks.splice(0, given.length, ...given);
      };
    },
  },
  'files that are purged before their message is sent': {
    topic: 'media',
    build: ({ media, rows }) => {
      const purge = media.purge.bind(media);
      media.purge = (before, limit) => {
        const files = [...rows.media].map(([id, file]) => [`${id} of nobody`, file] as const);
        rows.media.clear();
        for (const [id, file] of files) rows.media.set(id, file);
        return purge(before, limit);
      };
    },
  },
  'files that end early when they are removed': {
    topic: 'media',
    build: ({ media }) => {
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
    build: ({ accounts }) => {
      const create = accounts.createAccount.bind(accounts);
      accounts.createAccount = (account) => create({ ...account, id: account.id.toLowerCase() });
    },
  },
  'key ends that the last word decides': {
    topic: 'API keys',
    build: ({ accounts }) => {
      const expire = accounts.expireKey.bind(accounts);
      const find = accounts.findKey.bind(accounts);
      let end: number | undefined;
      accounts.expireKey = (id, at) => {
        end = at;
        return expire(id, at);
      };
      accounts.findKey = async (id) => {
        const key = await find(id);
        return key && { ...key, expiresAt: end ?? key.expiresAt };
      };
    },
  },
  'signatures that a second registration makes pending again': {
    topic: 'signatures',
    build: ({ accounts }) => {
      const register = accounts.registerSignature.bind(accounts);
      accounts.registerSignature = async (signature) => {
        await register(signature);
        const { accountId, name } = signature;
        await accounts.decideSignature(accountId, name, 'pending', undefined, signature.createdAt);
        return signature;
      };
    },
  },
};
