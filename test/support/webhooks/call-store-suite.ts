import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventRecorder } from '../../../src/events/event-recorder.js';
import type { EventType } from '../../../src/events/event-types.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { type CallProgress, type EndpointLease, MAX_REPLAYS } from '../../../src/webhooks/calls/call-records.js';
import { CallStore } from '../../../src/webhooks/calls/call-store.js';
import type { Endpoint, EndpointAttempt } from '../../../src/webhooks/endpoints/endpoint.js';
import { toEndpoint } from '../../../src/webhooks/endpoints/endpoint-rows.js';
import { EndpointStore } from '../../../src/webhooks/endpoints/endpoint-store.js';

const NOW = 1_000_000;
const ORDER = { owner: 'a', now: NOW, leaseUntil: NOW + 1000, limit: 100 };

/** The promises of `CallStore`, on a database. */
export function describeCallStore(
  name: string,
  open: () => Promise<{ source: DataSource; close(): Promise<void> }>,
): void {
  describe(`calls on ${name}`, () => {
    let source: DataSource;
    let close: () => Promise<void>;
    let storage: TypeormStorage;
    let store: CallStore;
    let made = 0;

    beforeAll(async () => {
      ({ source, close } = await open());
      storage = new TypeormStorage({ database: source });
      await storage.start();
      store = storage.store(CallStore);
    });
    afterAll(async () => {
      await storage?.stop();
      await close?.();
    });

    /** An endpoint with an account of its own, whose log has this many events. */
    async function endpoint(events: number, given: { types?: string; cursor?: number } = {}): Promise<Endpoint> {
      const id = `e${String(++made).padStart(4, '0')}`;
      const account = `account-${id}`;
      await storage.store(AccountStore).createAccount({ id: account, name: account, createdAt: NOW });
      await storage.store(EventLog).switchOn(account, NOW);
      await record(account, events);
      const types = given.types ? `'${given.types}'` : 'NULL';
      await source.query(
        `INSERT INTO messaging_endpoint (id, account_id, url, types, ordering, batch_max, wait_ms, signature, versions, status,
          cursor_at, lease_until, epoch, created_at, updated_at) VALUES ('${id}', '${account}', 'https://hooks.example/', ${types},
          'none', 1, 0, 'hmac', '[]', 'enabled', ${given.cursor ?? 0}, 0, 0, 1, 1)`,
      );
      return find(id);
    }

    /** @param step the time between two of the events */
    async function record(
      account: string,
      events: number,
      type: EventType = 'optout.added',
      at = NOW,
      step = 0,
    ): Promise<void> {
      const recorder = new EventRecorder(await databaseFor(source));
      const data = { number: '22670000000', signature: 'INFOS', source: 'phone' };
      await recorder.write(
        // biome-ignore lint/correctness/useYield: it stores nothing but its events
        function* ({ publish }) {
          for (let index = 0; index < events; index++)
            publish({ type, accountId: account, at: at + index * step, data } as never);
        },
      );
    }

    async function find(id: string): Promise<Endpoint> {
      const [row] = await source.query(`SELECT * FROM messaging_endpoint WHERE id = '${id}'`);
      return toEndpoint(row);
    }

    /** All calls of an endpoint, page by page, until there are `most`. */
    async function listedBy({ id }: Endpoint, limit: number, most: number): Promise<readonly EndpointAttempt[]> {
      const listed: EndpointAttempt[] = [];
      let after: string | undefined;
      do {
        const page = await storage.store(EndpointStore).attempts({ endpointId: id, limit, after });
        listed.push(...page.items);
        after = page.next;
      } while (after !== undefined && listed.length < most);
      return listed;
    }

    async function leaseOf({ id, accountId }: Endpoint, owner = 'a', now = NOW): Promise<EndpointLease> {
      const { taken } = await store.take({ ...ORDER, owner, now, leaseUntil: now + 1000, accounts: [accountId] });
      const lease = taken.find(({ lease }) => lease.endpointId === id)?.lease;
      if (!lease) throw new Error('It was not taken.');
      return lease;
    }

    const progress = (lease: EndpointLease, given: Partial<CallProgress>): CallProgress => ({
      lease,
      cursor: 0,
      failingSince: undefined,
      restsUntil: undefined,
      done: [],
      failed: [],
      records: [],
      replays: [],
      disabled: undefined,
      ...given,
    });
    const failed = (sequence: number, dueAt: number | undefined, batch?: string) => ({
      sequence,
      tries: 1,
      dueAt,
      batch,
    });

    test('takes an endpoint with work, once, and again when its lease has ended', async () => {
      const busy = await endpoint(3);
      const idle = await endpoint(3, { cursor: 3 });
      const accounts = [busy.accountId, idle.accountId];
      const first = await store.take({ ...ORDER, accounts });
      expect(first.taken.map(({ endpoint }) => endpoint)).toEqual([busy]);
      expect((await store.take({ ...ORDER, owner: 'b', accounts })).taken).toEqual([]);
      const later = { ...ORDER, owner: 'b', now: NOW + 1000, leaseUntil: NOW + 2000, accounts };
      const [second] = (await store.take(later)).taken;
      expect(second?.lease).toEqual({ endpointId: busy.id, epoch: 2 });
      expect(await store.load('b', { endpointId: busy.id, epoch: 2 })).toEqual(busy);
      expect(await store.load('a', { endpointId: busy.id, epoch: 1 })).toBeUndefined();
      const lease = { endpointId: busy.id, epoch: 2 };
      expect(await store.renew('b', [lease], NOW + 9000)).toEqual([{ ...lease, updatedAt: 1 }]);
      await store.release('b', [lease]);
      expect(await store.renew('b', [lease], NOW + 9000)).toEqual([]);
    });

    test('lets one of several concurrent processes take an endpoint', async () => {
      const endpoints = await Promise.all(Array.from({ length: 10 }, () => endpoint(1)));
      const accounts = endpoints.map(({ accountId }) => accountId);
      const owners = ['a', 'b', 'c', 'd', 'e', 'f'];
      const taken = await Promise.all(owners.map((owner) => store.take({ ...ORDER, owner, accounts })));
      const ids = taken.flatMap((each) => each.taken.map(({ lease }) => lease.endpointId));
      expect(ids.sort()).toEqual(endpoints.map(({ id }) => id).sort());
    });

    test('lists all endpoints in pages', async () => {
      await Promise.all(Array.from({ length: 5 }, () => endpoint(1)));
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.take({ ...ORDER, owner: 'walker', after, limit: 2, leaseUntil: NOW + 100_000 });
        seen.push(...page.taken.map(({ lease }) => lease.endpointId));
        if (page.next === undefined) break;
        after = page.next;
      }
      expect(seen.length).toBeGreaterThanOrEqual(5);
      expect(new Set(seen).size).toBe(seen.length);
    });

    test('stores the results of calls, as a whole and any number of times', async () => {
      const one = await endpoint(9);
      const lease = await leaseOf(one);
      const record = { ok: false, status: undefined, error: 'timeout', reply: undefined };
      const failures = progress(lease, {
        cursor: 5,
        failingSince: NOW,
        restsUntil: NOW + 5,
        failed: [failed(3, NOW + 50, 'x'), failed(2, NOW + 50, 'x'), failed(4, NOW + 9), failed(1, undefined)],
        records: [{ ...record, id: `r-${one.id}`, calls: [{ sequences: [2, 3], at: NOW, ms: 12 }] }],
      });
      expect(await store.commit('a', [failures])).toEqual(new Set([one.id]));
      expect(await store.commit('a', [failures])).toEqual(new Set([one.id]));
      expect(await find(one.id)).toMatchObject({ cursor: 5, failingSince: NOW, restsUntil: NOW + 5 });
      const pending = await store.pending(one.id, 'time', 10);
      expect(pending.map(({ sequence, batch }) => [sequence, batch])).toEqual([
        [4, undefined],
        [2, 'x'],
        [3, 'x'],
      ]);
      expect((await store.pending(one.id, 'number', 2)).map(({ sequence }) => sequence)).toEqual([2, 3]);
      const end = progress(lease, { cursor: 7, done: [2, 3], failed: [failed(4, NOW + 99)] });
      expect(await store.commit('b', [end])).toEqual(new Set());
      expect(await store.commit('a', [end])).toEqual(new Set([one.id]));
      expect(await store.pending(one.id, 'time', 10)).toEqual([failed(4, NOW + 99)]);
      expect(await find(one.id)).toMatchObject({ cursor: 7, failingSince: null, restsUntil: null });
      const rows = await source.query(`SELECT * FROM messaging_endpoint_attempt WHERE endpoint_id = '${one.id}'`);
      expect(rows).toHaveLength(1);
      expect(await store.purgeRecords(NOW - 1, 10)).toBe(0);
      expect(await store.purgeRecords(NOW, 10)).toBe(1);
    });

    test('lists the calls of runs one by one, in the order in which they began, however runs overlap', async () => {
      const one = await endpoint(9);
      const lease = await leaseOf(one);
      const answer = { ok: true, status: 204, error: undefined, reply: '' };
      const call = (sequence: number, at: number) => ({
        sequences: [sequence, sequence + 1],
        at: NOW + at,
        ms: sequence,
      });
      const id = (last: string) => `01a1fe2d-892e-775e-ac74-${String(made).padStart(9, '0')}${last}`;
      const failure = { ok: false, status: 500, error: undefined, reply: 'no', id: id('abc') };
      // In the order of their ends, not of their beginnings. The second run begins before the first one ends, and the
      // failure is between them.
      const runs = [
        { ...answer, id: id('123'), calls: [call(1, 5), call(2, 0), call(3, 60)] },
        { ...failure, calls: [call(4, 40)] },
      ];
      const later = {
        ...answer,
        id: id('456').replace('-775e-', '-775f-'),
        calls: [call(5, 70), call(6, 60), call(7, 20)],
      };
      expect(await store.commit('a', [progress(lease, { cursor: 5, records: runs })])).toEqual(new Set([one.id]));
      const second = progress(lease, { cursor: 7, records: [later] });
      for (let time = 0; time < 2; time++) expect(await store.commit('a', [second])).toEqual(new Set([one.id]));
      const rows = await source.query(`SELECT id FROM messaging_endpoint_attempt WHERE endpoint_id = '${one.id}'`);
      expect(rows).toHaveLength(3);
      for (const limit of [1, 2, 3, 100]) {
        const listed = await listedBy(one, limit, 100);
        expect(listed.map(({ sequences: [first], at, ms }) => [first, at - NOW, ms])).toEqual([
          [5, 70, 5],
          [6, 60, 6],
          [3, 60, 3],
          [4, 40, 4],
          [7, 20, 7],
          [1, 5, 1],
          [2, 0, 2],
        ]);
        expect(new Set(listed.map((attempt) => attempt.id)).size).toBe(7);
        expect(listed[0]).toMatchObject({ ...answer, sequences: [5, 6] });
      }
      const { items } = await storage.store(EndpointStore).attempts({ endpointId: one.id, limit: 9, ok: false });
      expect(items.map((attempt) => attempt.id)).toEqual([failure.id]);
    });

    test('lists overlapping runs that are more than are read at a time, without leaving out a call', async () => {
      const one = await endpoint(9);
      const lease = await leaseOf(one);
      const answer = { ok: true, status: 200, error: undefined, reply: undefined };
      // The last to end is not the last to begin.
      const records = Array.from({ length: 80 }, (_, run) => ({
        ...answer,
        id: `01a1fe2d-892e-775e-${String(run).padStart(4, '0')}-b${String(made).padStart(8, '0')}123`,
        calls: [30, 0, 50, 20].map((at, call) => ({ sequences: [4 * run + call + 1], at: NOW + 10 * run + at, ms: 1 })),
      }));
      await store.commit('a', [progress(lease, { cursor: 9, records })]);
      for (const limit of [7, 124, 1000]) {
        const listed = await listedBy(one, limit, 1000);
        const times = listed.map(({ at }) => at);
        expect(times).toEqual([...times].sort((a, b) => b - a));
        const numbers = listed.flatMap(({ sequences }) => sequences).sort((a, b) => a - b);
        expect(numbers).toEqual(Array.from({ length: 320 }, (_, index) => index + 1));
        expect(new Set(listed.map(({ id }) => id)).size).toBe(320);
      }
    });

    test('distinguishes two leases of one endpoint', async () => {
      const one = await endpoint(9);
      const old = await leaseOf(one);
      const lease = await leaseOf(one, 'a', NOW + 1000);
      const parts = [progress(lease, { cursor: 7 }), progress(old, { cursor: 3, failed: [failed(1, NOW)] })];
      for (const both of [parts, [...parts].reverse()]) {
        expect(await store.commit('a', both)).toEqual(new Set([one.id]));
        expect((await find(one.id)).cursor).toBe(7);
        expect(await store.pending(one.id, 'number', 9)).toEqual([]);
      }
      expect(await store.renew('a', [lease, old], NOW + 9000)).toEqual([{ ...lease, updatedAt: 1 }]);
    });

    test('tells the process that calls an endpoint, at the next renewal, that calls were requested', async () => {
      const one = await endpoint(4);
      const lease = await leaseOf(one);
      await store.commit('a', [progress(lease, { cursor: 4, failed: [failed(2, undefined)] })]);
      const order = { endpoint: one, after: 0, since: undefined, until: undefined, types: undefined, at: NOW };
      const asks = [
        () => store.callAgain(one, 3, NOW),
        () => store.addReplay({ ...order, id: `y-${one.id}` }),
        () => store.retryFailed({ ...order, id: '' }),
      ];
      let last = 1;
      for (const ask of asks) {
        await ask();
        const [renewed] = await store.renew('a', [lease], NOW + 9000);
        expect(renewed?.updatedAt).toBeGreaterThan(last);
        last = renewed?.updatedAt ?? last;
      }
    });

    test('keeps a limited number of replays of an endpoint waiting, and refuses a further one until one has ended', async () => {
      const one = await endpoint(4, { cursor: 4 });
      const other = await endpoint(4, { cursor: 4 });
      const replay = (of: Endpoint, id: number) =>
        store.addReplay({
          id: `y${id}-${of.id}`,
          endpoint: of,
          after: 0,
          since: undefined,
          until: undefined,
          types: undefined,
          at: NOW,
        });
      const asked = await Promise.allSettled(Array.from({ length: MAX_REPLAYS + 3 }, (_, id) => replay(one, 10 + id)));
      const refused = asked.filter((each) => each.status === 'rejected').map(({ reason }) => reason);
      expect(refused).toEqual(Array(3).fill(expect.objectContaining({ code: 'error.too_many_replays' })));
      expect(await replay(other, 10)).toBe(4);
      const audited = await storage.store(AuditLog).list({ limit: 50, accountId: one.accountId });
      expect(audited.items.filter(({ action }) => action === 'webhook.replayed')).toHaveLength(MAX_REPLAYS);
      // A request that opens no window is never refused.
      expect(
        await store.retryFailed({
          endpoint: one,
          id: '',
          after: 0,
          since: undefined,
          until: undefined,
          types: undefined,
          at: NOW,
        }),
      ).toBe(0);
      const lease = await leaseOf(one);
      const first = await store.replay(one.id);
      if (first)
        await store.commit('a', [progress(lease, { cursor: 4, replays: [{ ...first, position: first.upTo }] })]);
      expect(await replay(one, 99)).toBe(4);
      await expect(replay(one, 98)).rejects.toMatchObject({ code: 'error.too_many_replays' });
    });

    test('repeats no calls for types that the endpoint does not get', async () => {
      const one = await endpoint(2, { types: '["optout.added"]' });
      await store.commit('a', [progress(await leaseOf(one), { cursor: 2, failed: [failed(1, undefined)] })]);
      const order = { endpoint: one, after: 0, since: undefined, until: undefined, at: NOW };
      const types: readonly EventType[] = ['optout.removed'];
      expect(await store.retryFailed({ ...order, id: '', types })).toBe(0);
      expect(await store.addReplay({ ...order, id: `y-${one.id}`, types })).toBe(0);
      expect(await store.pending(one.id, 'number', 9)).toEqual([]);
    });

    test('adds no call for an event that is called anyway, but hurries one that has failed', async () => {
      const one = await endpoint(4);
      await store.commit('a', [progress(await leaseOf(one), { cursor: 2, failed: [failed(4, NOW + 50)] })]);
      expect(await store.callAgain(one, 3, NOW)).toBe(true);
      expect(await store.callAgain(one, 4, NOW)).toBe(true);
      expect(await store.pending(one.id, 'number', 9)).toEqual([{ ...failed(4, NOW), tries: 0 }]);
    });

    test('disables an endpoint in the transaction that records it in the log', async () => {
      const one = await endpoint(2);
      const disabled = { reason: 'gone', at: NOW + 7 } as const;
      await store.commit('a', [progress(await leaseOf(one), { cursor: 1, disabled })]);
      expect(await find(one.id)).toMatchObject({ status: 'disabled', reason: 'gone', cursor: 1 });
      const { events } = await storage.store(EventLog).read({ accountId: one.accountId, after: 2, limit: 9 });
      const data = { id: one.id, url: one.url, reason: 'gone' };
      expect(events).toEqual([{ type: 'endpoint.disabled', accountId: one.accountId, sequence: 3, at: NOW + 7, data }]);
      expect((await store.take({ ...ORDER, now: NOW + 9999, accounts: [one.accountId] })).taken).toEqual([]);
    });

    test('deletes failures whose events are no longer kept, and nothing else', async () => {
      const one = await endpoint(6);
      const failures = [failed(1, undefined), failed(2, NOW), failed(5, undefined)];
      await store.commit('a', [progress(await leaseOf(one), { cursor: 6, failed: failures })]);
      expect(await store.purgeFailed(10)).toBe(0);
      await source.query(`DELETE FROM messaging_event WHERE account_id = '${one.accountId}' AND sequence < 4`);
      await source.query(`UPDATE messaging_event_counter SET earliest = 4 WHERE id = '${one.accountId}'`);
      expect(await store.purgeFailed(10)).toBe(1);
      const rows: { sequence: number | string }[] = await source.query(
        `SELECT sequence FROM messaging_endpoint_retry WHERE endpoint_id = '${one.id}' ORDER BY sequence`,
      );
      expect(rows.map(({ sequence }) => Number(sequence))).toEqual([2, 5]);
    });

    test('repeats single events, windows and failures', async () => {
      const one = await endpoint(4, { types: '["optout.added","optout.removed"]' });
      await record(one.accountId, 3, 'optout.removed', NOW + 10);
      await record(one.accountId, 2, 'otp.verified', NOW + 20);
      const lease = await leaseOf(one);
      const lost = [failed(2, undefined), failed(6, undefined)];
      await store.commit('a', [progress(lease, { cursor: 9, failed: lost })]);
      expect(await store.callAgain(one, 8, NOW)).toBe(false);
      expect(await store.callAgain(one, 10, NOW)).toBe(false);
      expect(await store.callAgain(one, 3, NOW)).toBe(true);
      expect(await store.callAgain(one, 3, NOW + 1)).toBe(true);
      expect(await store.pending(one.id, 'time', 9)).toEqual([{ ...failed(3, NOW + 1), tries: 0 }]);
      const order = { endpoint: one, after: 0, since: undefined, until: undefined, types: undefined, at: NOW + 2 };
      expect(await store.retryFailed({ ...order, id: '', types: ['optout.removed'] })).toBe(1);
      expect(await store.retryFailed({ ...order, id: '', after: 2 })).toBe(0);
      expect((await store.pending(one.id, 'number', 9)).map(({ sequence }) => sequence)).toEqual([3, 6]);
      expect(await store.addReplay({ ...order, id: `y1-${one.id}` })).toBe(7);
      expect(await store.addReplay({ ...order, id: `y2-${one.id}`, since: NOW + 10, until: NOW + 20 })).toBe(3);
      expect(await store.addReplay({ ...order, id: `y3-${one.id}`, until: NOW })).toBe(0);
      const audited = await storage.store(AuditLog).list({ limit: 9, accountId: one.accountId });
      expect(audited.items.map(({ action, target, after }) => [action, target, after?.events])).toEqual(
        [3, 7, 1, 1, 1].map((events) => ['webhook.replayed', one.id, events]),
      );
      const replay = { id: `y1-${one.id}`, position: 0, upTo: 9, types: undefined };
      expect(await store.replay(one.id)).toEqual(replay);
      await store.commit('a', [progress(lease, { cursor: 9, replays: [{ ...replay, position: 4 }] })]);
      expect(await store.replay(one.id)).toEqual({ ...replay, position: 4 });
      await store.commit('a', [progress(lease, { cursor: 9, replays: [{ ...replay, position: 9 }] })]);
      expect(await store.replay(one.id)).toMatchObject({ id: `y2-${one.id}`, position: 4, upTo: 7 });
      await storage.store(EndpointStore).remove(one, NOW);
      expect(await store.replay(one.id)).toBeUndefined();
      expect(await store.pending(one.id, 'number', 9)).toEqual([]);
    });

    test('repeats single events, windows and failures of a large batch', async () => {
      const one = await endpoint(20, { types: '["optout.added","optout.removed"]' });
      await record(one.accountId, 20, 'optout.removed', NOW + 10, 1);
      await record(one.accountId, 1, 'otp.verified', NOW + 50);
      const lost = [failed(2, undefined), failed(25, undefined), failed(38, undefined)];
      await store.commit('a', [progress(await leaseOf(one), { cursor: 41, failed: lost })]);
      for (const sequence of [41, 42]) expect(await store.callAgain(one, sequence, NOW)).toBe(false);
      for (const sequence of [5, 30, 40]) expect(await store.callAgain(one, sequence, NOW)).toBe(true);
      const due = async () => (await store.pending(one.id, 'number', 9)).map(({ sequence }) => sequence);
      expect(await due()).toEqual([5, 30, 40]);
      const order = { endpoint: one, after: 0, since: undefined, until: undefined, types: undefined, at: NOW + 2 };
      expect(await store.retryFailed({ ...order, id: '', types: ['optout.removed'] })).toBe(2);
      expect(await due()).toEqual([5, 25, 30, 38, 40]);
      const replayed = (id: string, given: object) => store.addReplay({ ...order, ...given, id: `${id}-${one.id}` });
      expect(await replayed('y1', {})).toBe(40);
      expect(await replayed('y2', { after: 10, until: NOW + 15 })).toBe(15);
      expect(await replayed('y3', { since: NOW + 12, until: NOW + 30 })).toBe(18);
      expect(await replayed('y4', { after: 10, types: ['optout.added'] })).toBe(10);
      expect(await store.replay(one.id)).toMatchObject({ id: `y1-${one.id}`, position: 0, upTo: 41 });
    });
  });
}
