import { AccountStore } from '../../../src/accounts/account-store.js';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventRecorder } from '../../../src/events/event-recorder.js';
import type { EventType } from '../../../src/events/event-types.js';
import { resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CallStore } from '../../../src/webhooks/calls/call-store.js';
import { EndpointCalls } from '../../../src/webhooks/calls/endpoint-calls.js';
import { WebhookHttp } from '../../../src/webhooks/calls/http/webhook-http.js';
import { CallSettings, WebhookDispatcher } from '../../../src/webhooks/calls/webhook-dispatcher.js';
import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.js';
import { toEndpoint } from '../../../src/webhooks/endpoints/endpoint-rows.js';
import { EndpointSecrets } from '../../../src/webhooks/endpoints/endpoint-secret.js';
import { WebhookTargets } from '../../../src/webhooks/endpoints/webhook-targets.js';
import { EventViews } from '../../../src/webhooks/event-view.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';
import { eventually } from '../common/eventually.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { Receiver } from './receiver.js';

const SETTINGS = resolveWebhookSettings({
  pepper: 'a pepper of the tests: 7d1Qm0xHcV2u',
  allow: 'loopback',
});

/** Jitter in the middle, so that waits are exactly those of the schedule. */
class MiddleIds extends UuidGenerator {
  override random(): number {
    return 0.5;
  }
}

/** A process that calls endpoints. */
export interface CallProcess {
  readonly dispatcher: WebhookDispatcher;
  stop(): Promise<void>;
}

/** Endpoints of one account on a storage in memory, whose clock the test advances. */
export class CallFixture {
  readonly account = 'demo';
  readonly clock = new FakeClock();
  readonly ids = new MiddleIds();
  readonly notifier = new LocalNotifier();
  readonly store: CallStore;
  readonly log: EventLog;
  readonly calls: EndpointCalls;
  readonly secrets = new EndpointSecrets(SETTINGS.keys);
  private readonly http: WebhookHttp;
  private readonly recorder: EventRecorder;
  private readonly closing: (() => Promise<void>)[] = [];

  private constructor(readonly storage: SqliteMemory) {
    this.store = storage.store(CallStore);
    this.log = storage.store(EventLog);
    this.http = new WebhookHttp(new WebhookTargets(SETTINGS), this.clock);
    this.recorder = new EventRecorder(storage.db);
    this.calls = new EndpointCalls(this.store, this.http, this.secrets, this.notifier, this.clock, this.ids);
  }

  static async open(): Promise<CallFixture> {
    const world = new CallFixture(await SqliteMemory.open());
    const account = { id: world.account, name: 'Demo', createdAt: world.clock.now() };
    await world.storage.store(AccountStore).createAccount(account);
    await world.log.switchOn(world.account, world.clock.now());
    return world;
  }

  async close(): Promise<void> {
    for (const close of this.closing.splice(0).reverse()) await close();
    await this.storage.close();
  }

  async receiver(): Promise<Receiver> {
    const receiver = await Receiver.open();
    this.closing.push(() => receiver.close());
    return receiver;
  }

  /** An endpoint at a URL, which gets the events that are stored from now on. */
  async endpoint(url: string, given: Partial<Endpoint> = {}): Promise<Endpoint> {
    const { last } = await this.log.state(this.account);
    const { types = null, ordering = 'none', batch = { max: 1, waitMs: 0 }, signature = 'hmac' } = given;
    const id = this.ids.next();
    const now = this.clock.now();
    this.run(
      `INSERT INTO messaging_endpoint (id, account_id, url, types, ordering, batch_max, wait_ms, signature, versions, status,
        cursor_at, lease_until, epoch, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'enabled', ?, 0, 0, ?, ?)`,
      id,
      this.account,
      url,
      types ? JSON.stringify(types) : null,
      ordering,
      batch.max,
      batch.waitMs,
      signature,
      JSON.stringify(this.secrets.first()),
      given.cursor ?? last,
      now,
      now,
    );
    return this.find(id);
  }

  /** The endpoint as it is stored. */
  find(id: string): Endpoint {
    const row = this.storage.database.prepare('SELECT * FROM messaging_endpoint WHERE id = ?').get(id);
    return toEndpoint(row as Record<string, unknown>);
  }

  run(sql: string, ...params: readonly unknown[]): void {
    this.storage.database.prepare(sql).run(...params);
  }

  rows(sql: string, ...params: readonly unknown[]): readonly Record<string, unknown>[] {
    return this.storage.database.prepare(sql).all(...params) as Record<string, unknown>[];
  }

  /** Stores events in one transaction, and notifies the processes. */
  async record(count: number, type: EventType = 'optout.added'): Promise<void> {
    await this.recorder.write(
      // biome-ignore lint/correctness/useYield: it stores nothing but its events
      function* (this: CallFixture, { publish }: { readonly publish: (event: never) => void }) {
        for (let index = 0; index < count; index++) {
          const data = { number: '22670000000', signature: 'INFOS', source: 'phone' };
          publish({ type, accountId: this.account, at: this.clock.now(), data } as never);
        }
      }.bind(this),
    );
    this.notifier.publish('event', this.account);
  }

  /** A process with the role `worker`. */
  process(settings: Partial<CallSettings> = {}, store = this.store): CallProcess {
    const views = new EventViews(this.log, SETTINGS);
    const dispatcher = new WebhookDispatcher(
      ...([store, this.log, views, this.http, this.secrets, this.notifier, this.clock, this.ids] as const),
      resolveDispatchSettings({}, 'worker'),
      Object.assign(new CallSettings(), settings),
      new Rounds(this.clock),
    );
    dispatcher.onApplicationBootstrap();
    let stopping: Promise<void> | undefined;
    const stop = async () => {
      stopping ??= dispatcher.beforeApplicationShutdown();
      let ended = false;
      void stopping.finally(() => {
        ended = true;
      });
      await this.until(() => ended);
      await stopping;
    };
    this.closing.push(stop);
    return { dispatcher, stop };
  }

  /** Advances the clock until a condition is true. */
  async until<T>(ask: () => T | Promise<T>, isIt?: (answer: T) => boolean, stepMs = 20): Promise<T> {
    return eventually(ask, isIt, { clock: this.clock, stepMs });
  }
}
