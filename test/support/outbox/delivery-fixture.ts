import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { IdGenerator } from '../../../src/common/ids.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { Send } from '../../../src/outbox/accept/send.js';
import { Channel, type StoreEarlyResults } from '../../../src/outbox/channel.js';
import type { DeliveryResult, DeliveryTiming, RepeatPolicy } from '../../../src/outbox/delivery/delivery-result.js';
import { type DispatchOptions, resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { ChannelWorker } from '../../../src/outbox/delivery/worker.js';
import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import type { OperatingSwitches } from '../../../src/outbox/operating-state.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import type { ClaimOrder, Delivery, DeliveryTransition } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { StoreClass } from '../../../src/storage/engine/database.js';
import { ACCOUNT, aSend, messageId } from '../../contract/storage/fixtures.js';
import { SetBackClock } from '../common/set-back-clock.js';
import { settled } from '../common/settled.js';
import { StaleDatabase } from '../databases/naive-storage.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { inPlaceOf } from '../databases/store-in-place.js';

/** Counts what workers request, and fails where a test wants it. */
class CountingStore extends OutboxStore {
  claims: ClaimOrder[] = [];
  looks = 0;
  /** False: it reads what is due, waits for a moment, and takes what may be taken by then. */
  locks = true;
  /** Thrown by the next calls, one each. */
  readonly claimFaults: Error[] = [];
  readonly settleFaults: Error[] = [];
  private readonly careless: OutboxStore;

  constructor({ db, database }: SqliteMemory) {
    super(db);
    this.careless = new OutboxStore(new StaleDatabase(database));
  }

  override async claim(order: ClaimOrder): Promise<readonly Delivery[]> {
    this.claims.push(order);
    const fault = this.claimFaults.shift();
    if (fault) throw fault;
    return this.locks ? super.claim(order) : this.careless.claim(order);
  }

  override async settle(settlements: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    const fault = this.settleFaults.shift();
    if (fault) throw fault;
    return super.settle(settlements);
  }

  override nextDue(channel: string): Promise<number | undefined> {
    this.looks++;
    return super.nextDue(channel);
  }
}

class CountingStorage extends SqliteMemory {
  private counting: CountingStore | undefined;

  get outbox(): CountingStore {
    this.counting ??= new CountingStore(this);
    return this.counting;
  }

  override store<S extends object>(Store: StoreClass<S>): S {
    return inPlaceOf(Store, this.outbox) ?? super.store(Store);
  }
}

/** No ids are needed. The test sets the jitter. */
class SetRandom extends IdGenerator {
  value = 0.5;

  override next(): string {
    throw new Error('No id is needed here.');
  }

  override bytes(): Buffer {
    throw new Error('No bytes are needed here.');
  }

  override random(): number {
    return this.value;
  }
}

type Carrier = (
  batch: readonly Delivery[],
  signal: AbortSignal,
  early: StoreEarlyResults,
) => Promise<readonly DeliveryResult[]>;

/** A channel whose carrier is a function of the test. */
class ScriptedChannel extends Channel {
  override readonly name = 'sms';
  override readonly timing: DeliveryTiming = {
    leaseMs: 10_000,
    maxAttempts: 4,
    retryBaseMs: 1000,
    retryMaxMs: 5000,
    maxAwayMs: 3_600_000,
    reportDeadlineMs: 60_000,
  };
  /** Every batch as it was handed over. */
  readonly batches: (readonly Delivery[])[] = [];
  carrier: Carrier = async (batch) => batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  /** The lanes that are free now. */
  freeLanes: () => readonly string[] | undefined = () => undefined;
  /** Batches on the wire: now, and the most at a time. */
  under = 0;
  peak = 0;

  constructor(override readonly repeat: RepeatPolicy) {
    super();
  }

  override async start(): Promise<void> {}

  override async deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    early: StoreEarlyResults,
  ): Promise<readonly DeliveryResult[]> {
    this.batches.push(batch);
    this.peak = Math.max(this.peak, ++this.under);
    try {
      return await this.carrier(batch, signal, early);
    } finally {
      this.under--;
    }
  }

  override lanes(): readonly string[] | undefined {
    return this.freeLanes();
  }

  override async stop(): Promise<void> {}

  /** How often each delivery was handed over, by `<message>/<position>`. */
  get submitted(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { messageId: id, position } of this.batches.flat()) {
      counts.set(`${id}/${position}`, (counts.get(`${id}/${position}`) ?? 0) + 1);
    }
    return counts;
  }
}

/** An outbox in memory, a channel and a clock of the test, and workers on them. */
export class DeliveryFixture {
  readonly clock = new SetBackClock();
  private readonly rounds = new Rounds(this.clock);
  readonly events = new MessagingEvents();
  readonly notifier = new LocalNotifier();
  readonly outbox: Outbox;
  readonly random = new SetRandom();
  readonly channel: ScriptedChannel;
  private readonly workers: ChannelWorker[] = [];

  private constructor(
    readonly storage: CountingStorage,
    repeat: RepeatPolicy,
  ) {
    this.outbox = new Outbox(storage.outbox, this.notifier, this.events);
    this.channel = new ScriptedChannel(repeat);
  }

  /** With 1000 units on `ACCOUNT`, and no worker yet. */
  static async open(repeat: RepeatPolicy = 'idempotent'): Promise<DeliveryFixture> {
    const storage = new CountingStorage();
    await storage.start();
    const world = new DeliveryFixture(storage, repeat);
    const accounts = world.storage.store(AccountStore);
    const ledger = world.storage.store(LedgerStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: 0 });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 1000, at: 0 });
    return world;
  }

  /** Starts a worker. */
  worker(options: DispatchOptions = {}, switches?: OperatingSwitches): ChannelWorker {
    const settings = resolveDispatchSettings(options);
    const worker = new ChannelWorker(
      ...([this.channel, this.storage.outbox, this.outbox, settings, this.clock, this.random, this.rounds] as const),
      switches,
    );
    this.workers.push(worker);
    if (worker.direct) this.outbox.deliverDirectly(this.channel.name, worker.direct);
    worker.start();
    return worker;
  }

  /** Accepts sends at the same moment, as the requests of an application do. */
  async send(...sends: readonly Send[]): Promise<void> {
    const at = this.clock.now();
    await Promise.all(sends.map((send) => this.outbox.accept({ ...send, at })));
  }

  /** Ends the workers, whatever they are doing. */
  async close(): Promise<void> {
    const stops = this.workers.map((worker) => worker.stop());
    await this.pass(60_000, 20_000);
    await Promise.all(stops);
    await this.storage.close();
  }

  /** Stores sends as if an application had just accepted them. */
  async accept(...sends: readonly Send[]): Promise<void> {
    const at = this.clock.now();
    await this.storage.outbox.commit(
      sends.map((send) => ({ ...send, at })),
      decide,
    );
    for (const worker of this.workers) worker.notify();
    await settled();
  }

  /** Stores `count` sends of one unit, from `msg-000000` on. */
  acceptSome(count: number): Promise<void> {
    return this.accept(...Array.from({ length: count }, (_, index) => aSend(index)));
  }

  /** Lets time pass in steps. After each, all work runs that can run. */
  async pass(ms: number, step = 100): Promise<void> {
    for (let gone = 0; gone < ms; gone += step) {
      this.clock.advance(Math.min(step, ms - gone));
      await settled();
    }
  }

  async status(index = 0): Promise<string | undefined> {
    return (await this.storage.outbox.recipients(messageId(index)))[0]?.status;
  }

  balance(): Promise<number | undefined> {
    return this.storage.store(LedgerStore).balance(ACCOUNT);
  }

  books(): Promise<readonly string[]> {
    return this.storage.store(LedgerStore).check();
  }
}

/** A promise that the test resolves when it likes. */
export class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}
