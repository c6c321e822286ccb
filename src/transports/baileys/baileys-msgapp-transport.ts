import type { InjectionToken } from '@nestjs/common';
import type { UserFacingSocketConfig, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { Clock, SystemClock } from '../../common/clock.js';
import {
  type Link,
  type LinkListener,
  type LinkOrder,
  MsgappTransport,
  type Pacing,
  type SessionTiming,
} from '../../msgapp/msgapp-transport.js';
import type { DeliveryTiming } from '../../outbox/delivery-result.js';
import { BaileysCredentials } from './baileys-credentials.js';
import { type Baileys, loadBaileys } from './baileys-library.js';
import { BaileysLink } from './baileys-link.js';
import { type BaileysOptions, type ResolvedBaileysOptions, resolveBaileysOptions } from './baileys-options.js';
import { type BaileysLogger, guardConsole, quietLogger } from './quiet-logger.js';
import { addressOfSender } from './recipients.js';
import { BoundedCache, SessionMemory } from './session-memory.js';
import { withSharedContexts } from './shared-contexts.js';
import { verifySignatures } from './signatures.js';

/** What the option `transport` is given by `BaileysMsgappTransport.forRoot`. */
export interface BaileysSource {
  readonly inject: { token: InjectionToken; optional: boolean }[];
  readonly useFactory: (clock?: Clock) => BaileysMsgappTransport;
}

/** How many sessions are remembered between their connections. */
const SESSIONS = 1000;

/**
 * The messaging app itself, as a linked device of real numbers, through the optional peer `baileys`. It speaks a protocol
 * that its owner does not publish and may change or refuse at any time.
 */
export class BaileysMsgappTransport extends MsgappTransport {
  override readonly name = 'baileys';

  /** Nobody tells whether a message that was not acknowledged arrived; the same id twice is only the app's to sort out. */
  override readonly repeat = 'at-most-once';

  /** A hand-off may take an upload, the questions before it and the acknowledgement. */
  override readonly timing: Partial<DeliveryTiming>;

  /** What a person could write; who writes faster is soon restricted. */
  override readonly pacing: Partial<Pacing> = { perMinute: 20, jitter: 0.5 };

  /** The first opening stores some 800 keys and asks several questions before it is said to be open. */
  override readonly sessions: Partial<SessionTiming>;

  private readonly options: ResolvedBaileysOptions;
  private readonly memories = new LRUCache<string, SessionMemory>({ max: SESSIONS });
  private library: Baileys | undefined;
  private unguardConsole: () => void = () => undefined;

  /** The transport option of a channel. @throws MessagingOptionsError naming the option that is wrong */
  static forRoot(options: BaileysOptions = {}): BaileysSource {
    // Found out where the host wrote it, not when the application starts.
    resolveBaileysOptions(options);
    return {
      inject: [{ token: Clock, optional: true }],
      useFactory: (clock) => new BaileysMsgappTransport(options, clock),
    };
  }

  constructor(
    options: BaileysOptions = {},
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
    this.options = resolveBaileysOptions(options);
    const { uploadTimeoutMs, queryTimeoutMs, ackTimeoutMs, answerTimeoutMs } = this.options;
    this.timing = { leaseMs: uploadTimeoutMs + 4 * queryTimeoutMs + 2 * ackTimeoutMs, retryBaseMs: 10_000 };
    this.sessions = { answerMs: answerTimeoutMs };
  }

  /** @throws MessagingOptionsError without the peer, and when it accepts a forged signature */
  override async start(): Promise<void> {
    const library = await loadBaileys();
    verifySignatures(library);
    this.library = library;
    this.unguardConsole();
    this.unguardConsole = guardConsole();
  }

  override async open(order: LinkOrder, listener: LinkListener): Promise<Link> {
    const { library, options, clock } = this;
    if (!library) throw new Error('The transport is not started.');
    let link: BaileysLink | undefined;
    const credentials = await BaileysCredentials.load(library, order.credentials, () => {
      link?.fail('credentials_not_stored');
    });
    if (order.linked && credentials.number === undefined) return unlinkedLink(listener);
    const memory = this.memories.get(order.sessionId) ?? new SessionMemory();
    this.memories.set(order.sessionId, memory);
    const logger = quietLogger();
    const socket: WASocket = withSharedContexts(() =>
      library.makeWASocket({
        ...socketSettings(library, credentials, memory, options, logger),
        getMessage: async ({ id, remoteJid }) =>
          memory.sent.find(id ?? '', await addressOfSender(library, socket, remoteJid)),
      }),
    );
    link = new BaileysLink({ library, socket, credentials, memory, options, logger, clock, listener });
    return link;
  }

  override async stop(): Promise<void> {
    this.unguardConsole();
    this.unguardConsole = () => undefined;
    this.memories.clear();
  }
}

/** A connection that never was: the session counts as linked, but its credentials are gone. */
function unlinkedLink(listener: LinkListener): Link {
  setImmediate(() => {
    const end = { next: 'give-up', status: 'logged_out', reason: 'credentials_missing' } as const;
    listener({ kind: 'ended', end }).catch(() => undefined);
  });
  return {
    send: async () => ({ kind: 'retry', error: 'not_open' }),
    exists: async () => undefined,
    close: async () => undefined,
    logout: async () => undefined,
  };
}

/** Keys that are read again and again while messages go to and fro. */
const KEY_CACHE_SIZE = 500;
const KEY_CACHE_MS = 300_000;

/** Groups, broadcasts and statuses, newsletters. */
const CROWDS = ['@g.us', '@broadcast', '@newsletter'];

/** How Baileys is to run one connection of a session that only sends. */
function socketSettings(
  library: Baileys,
  credentials: BaileysCredentials,
  memory: SessionMemory,
  options: ResolvedBaileysOptions,
  logger: BaileysLogger,
): UserFacingSocketConfig {
  const { FULL, RECENT } = library.proto.HistorySync.HistorySyncType;
  const { agent, uploadAgent, version, browser, qrTimeoutMs } = options;
  const keys = library.makeCacheableSignalKeyStore(
    credentials.keys,
    logger,
    new BoundedCache(KEY_CACHE_SIZE, KEY_CACHE_MS),
  );
  return {
    auth: { creds: credentials.creds, keys },
    logger,
    waWebSocketUrl: options.waWebSocketUrl,
    ...(agent && { agent }),
    ...(uploadAgent && { fetchAgent: uploadAgent }),
    ...(version && { version: [...version] }),
    ...(browser && { browser: [...browser] }),
    ...(qrTimeoutMs !== undefined && { qrTimeout: qrTimeoutMs }),
    connectTimeoutMs: options.connectTimeoutMs,
    defaultQueryTimeoutMs: options.queryTimeoutMs,
    keepAliveIntervalMs: options.keepAliveMs,
    // Else the phone stops telling its owner of new messages.
    markOnlineOnConnect: false,
    // What we send comes back to us as receipts only.
    emitOwnEvents: false,
    syncFullHistory: false,
    // Old conversations are nobody's business here; the first part has to come, it names people's other addresses.
    shouldSyncHistoryMessage: ({ syncType }) => syncType !== FULL && syncType !== RECENT,
    // What goes on in groups and the like would only cost time and keys.
    shouldIgnoreJid: (jid) => CROWDS.some((crowd) => jid.endsWith(crowd)),
    // What could not be written is not tried again here: the connection is given up, and the next one reads what is stored.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    userDevicesCache: memory.devices,
    msgRetryCounterCache: memory.retries,
  };
}
