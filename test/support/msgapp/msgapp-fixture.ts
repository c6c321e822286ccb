import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventPublisher } from '../../../src/events/event-publisher.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { type FetchedMedia, MediaFetcher, type MediaRequest } from '../../../src/media/media-fetcher.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { AddressStore } from '../../../src/msgapp/address-store.js';
import { ContactStore } from '../../../src/msgapp/contacts/contact-store.js';
import { MsgappChannel } from '../../../src/msgapp/msgapp-channel.js';
import { type MsgappOptions, resolveMsgappSettings } from '../../../src/msgapp/msgapp-options.js';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import type { MsgappTransport } from '../../../src/msgapp/msgapp-transport.js';
import { ReceivedMessageStore } from '../../../src/msgapp/received/received-message-store.js';
import { ReceivedOrigins } from '../../../src/msgapp/received/received-origins.js';
import { Addressees } from '../../../src/msgapp/sending/addressees.js';
import { MediaIntake } from '../../../src/msgapp/sending/media-intake.js';
import { Senders } from '../../../src/msgapp/sending/senders.js';
import { SessionVault } from '../../../src/msgapp/sessions/credential-vault.js';
import type { SessionCredentials } from '../../../src/msgapp/sessions/session-credentials.js';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import { type SessionLease } from '../../../src/msgapp/sessions/session-records.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { Channels } from '../../../src/outbox/channel.js';
import { resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { ChannelWorker } from '../../../src/outbox/delivery/worker.js';
import { Idempotency } from '../../../src/outbox/idempotency.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { Cancellation } from '../../../src/outbox/schedule/cancellation.js';
import { TextSources } from '../../../src/outbox/text-sources.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { SetBackClock } from '../common/set-back-clock.js';
import { settled } from '../common/settled.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { ScriptedTransport } from './scripted-transport.js';

/** Keeps credentials unencrypted. */
class PlainVault extends SessionVault {
  /** The error that reading throws. */
  fault: Error | undefined;

  constructor(private readonly store: SessionStore) {
    super();
  }

  override open(lease: SessionLease): SessionCredentials {
    return {
      read: async (kind, ids) => {
        if (this.fault) throw this.fault;
        return this.store.credentials(lease.sessionId, kind, ids);
      },
      write: async (changes) => {
        if (!(await this.store.writeCredentials(lease, changes))) throw new Error('The session is lost.');
      },
    };
  }
}

/** Files by URL. */
class FakeFetcher extends MediaFetcher {
  readonly requests: MediaRequest[] = [];
  answer: (request: MediaRequest) => Promise<FetchedMedia> = async () => {
    throw new Error('There is no such file.');
  };

  override fetch(request: MediaRequest): Promise<FetchedMedia> {
    this.requests.push(request);
    return this.answer(request);
  }
}

/** Without jitter: halfway. */
class EvenIds extends UuidGenerator {
  override random(): number {
    return 0.5;
  }
}

/** The parts that all processes of a fixture share. */
export interface Surroundings {
  readonly clock: FakeClock;
  readonly storage: MessagingStorage;
}

/** One process with one channel on it. */
export class MsgappProcess<T extends MsgappTransport = ScriptedTransport> {
  readonly events = new MessagingEvents();
  readonly notifier = new LocalNotifier();
  readonly texts = new TextSources();
  readonly channels = new Channels();
  readonly fetcher = new FakeFetcher();
  readonly ids = new EvenIds();
  readonly outbox: Outbox;
  readonly vault: PlainVault;
  readonly sessions: SessionManager;
  readonly senders: Senders;
  readonly channel: MsgappChannel;
  readonly service: MsgappService;
  private worker: ChannelWorker | undefined;
  private unlisten: () => void = () => undefined;

  constructor(
    { clock, storage }: Surroundings,
    readonly transport: T,
    options: Partial<MsgappOptions> = {},
    sessionStore: SessionStore = storage.store(SessionStore),
  ) {
    const { events, notifier, texts, channels, ids } = this;
    const teller = new EventPublisher(events, storage.store(EventLog));
    const settings = resolveMsgappSettings({ tariff: { text: 1, media: 2 }, ...options });
    this.clock = clock;
    this.storage = storage;
    this.outbox = new Outbox(storage.store(OutboxStore), notifier, events);
    this.vault = new PlainVault(storage.store(SessionStore));
    this.sessions = new SessionManager(
      sessionStore,
      this.vault,
      transport,
      settings,
      teller,
      clock,
      ids,
      new Rounds(clock),
    );
    const contacts = storage.store(ContactStore);
    const origins = new ReceivedOrigins(storage.store(ReceivedMessageStore), this.vault);
    this.senders = new Senders(this.sessions, clock, notifier);
    this.channel = new MsgappChannel(
      ...([this.sessions, this.senders, settings, events, teller, clock, transport, this.outbox] as const),
      ...([
        storage.store(OutboxStore),
        sessionStore,
        storage.store(AddressStore),
        contacts,
        origins,
        notifier,
        storage.store(MediaStore),
        texts,
        ids,
        channels,
      ] as const),
    );
    const intake = new MediaIntake(this.fetcher, storage.store(MediaStore), clock);
    const gate = new Idempotency(storage.store(OutboxStore), clock);
    const ledger = new LedgerService(storage.store(LedgerStore), clock, ids, teller);
    this.service = new MsgappService(
      this.outbox,
      storage.store(OutboxStore),
      ledger,
      gate,
      new Cancellation(this.outbox, storage.store(OutboxStore), clock),
      new Addressees(contacts, origins, sessionStore, settings),
      this.senders,
      intake,
      settings,
      clock,
      ids,
    );
  }

  readonly clock: FakeClock;
  readonly storage: MessagingStorage;

  /** Starts the channel and a worker, like the dispatcher. */
  async start(): Promise<this> {
    await this.channel.start(() => this.worker?.notify());
    const settings = resolveDispatchSettings({});
    const { channel, storage, outbox, clock, ids } = this;
    const worker = new ChannelWorker(
      channel,
      storage.store(OutboxStore),
      outbox,
      settings,
      clock,
      ids,
      new Rounds(clock),
    );
    this.worker = worker;
    worker.start();
    this.unlisten = this.notifier.listen('due', (name) => {
      if (name === channel.name) worker.notify();
    });
    await settled();
    return this;
  }

  /** Stops in the dispatcher's order, while time passes. */
  async stop(): Promise<void> {
    this.unlisten();
    let over = false;
    const stopping = (async () => {
      await this.worker?.stop();
      await this.channel.stop();
      over = true;
    })();
    for (let turn = 0; turn < 50 && !over; turn++) await pass(this.clock, 1000, 1000);
    await stopping;
  }

  close(): Promise<void> {
    return this.stop();
  }
}

/** A storage with 1000 units on `ACCOUNT`, a clock, and as many processes as a test wants. */
export class MsgappFixture implements Surroundings {
  readonly clock = new SetBackClock();

  private constructor(readonly storage: SqliteMemory) {}

  static async open(): Promise<MsgappFixture> {
    const world = new MsgappFixture(await SqliteMemory.open());
    const accounts = world.storage.store(AccountStore);
    const ledger = world.storage.store(LedgerStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: 0 });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 1000, at: 0 });
    return world;
  }

  /** Lets time pass in steps. After each, all work runs that can run. */
  pass(ms: number, step = 100): Promise<void> {
    return pass(this.clock, ms, step);
  }

  async status(sessionId: string): Promise<string | undefined> {
    return (await this.storage.store(SessionStore).find(sessionId))?.status;
  }

  /** The steps of a session, `status: reason`. */
  async steps(sessionId: string): Promise<string[]> {
    const steps = await this.storage.store(SessionStore).transitions(sessionId);
    return steps.map(({ to, reason }) => `${to}: ${reason}`);
  }

  balance(): Promise<number | undefined> {
    return this.storage.store(LedgerStore).balance(ACCOUNT);
  }

  books(): Promise<readonly string[]> {
    return this.storage.store(LedgerStore).check();
  }
}

async function pass(clock: FakeClock, ms: number, step: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += step) {
    clock.advance(Math.min(step, ms - gone));
    await settled(4);
  }
}

/** Links a session of a process to a number by scanning its code. */
export async function linked(process: MsgappProcess, number: string): Promise<string> {
  const { sessionID } = await process.sessions.connect(ACCOUNT);
  await settled();
  const link = process.transport.last(sessionID);
  await link.say({ kind: 'qr', qr: `qr-${number}`, expiresAt: process.clock.now() + 60_000 });
  await link.say({ kind: 'linked', number });
  await link.say({ kind: 'open', number });
  return sessionID;
}
