import type { InjectionToken } from '@nestjs/common';
import type { UserFacingSocketConfig, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { Clock, SystemClock } from '../../common/clock.js';
import { atMost } from '../../common/concurrency/at-most.js';
import { MINUTE_MS } from '../../common/time.js';
import {
  type Link,
  type LinkListener,
  type LinkOrder,
  MsgappTransport,
  type Pacing,
  type SessionTiming,
} from '../../msgapp/msgapp-transport.js';
import type { DeliveryTiming } from '../../outbox/delivery/delivery-result.js';
import { BaileysCredentials } from './baileys-credentials.js';
import { type Baileys, loadBaileys } from './baileys-library.js';
import { BaileysLink } from './baileys-link.js';
import { type BaileysOptions, type ResolvedBaileysOptions, resolveBaileysOptions } from './baileys-options.js';
import { verifyKeySignatures } from './key-signatures.js';
import { downloadMedia, readFile } from './media-download.js';
import { type BaileysLogger, guardConsole, quietLogger } from './quiet-logger.js';
import { addressOfSender } from './recipients.js';
import { BoundedCache, SessionMemory } from './session-memory.js';
import { withSharedContexts } from './shared-contexts.js';

/** The value of the option `transport` that `BaileysMsgappTransport.forRoot` returns. */
export interface BaileysSource {
  readonly inject: { token: InjectionToken; optional: boolean }[];
  readonly useFactory: (clock?: Clock) => BaileysMsgappTransport;
}

/** The maximum number of sessions whose caches are kept between connections. */
const MAX_SESSIONS = 1000;

/**
 * Connects to the messaging app as a linked device of real numbers, with the optional peer dependency `baileys`. The
 * app's owner does not publish the protocol and may change or refuse it at any time.
 *
 * @example
 * ```ts
 * const transport = BaileysMsgappTransport.forRoot({ browser: ['Acme', 'Chrome', '1.0'] });
 * MessagingModule.forRoot({ sms, msgapp: { channels: { whatsapp: { transport } } } });
 * ```
 */
export class BaileysMsgappTransport extends MsgappTransport {
  override readonly name = 'baileys';

  /** A message without an acknowledgement may have arrived, and the server does not deduplicate by id. */
  override readonly repeat = 'at-most-once';

  /** The lease covers the queries before a message, an upload and the acknowledgement. */
  override readonly timing: Partial<DeliveryTiming>;

  /** The rate of a person. Numbers that send faster are soon restricted. */
  override readonly pacing: Partial<Pacing> = { perMinute: 20, jitter: 0.5 };

  /** The first opening stores about 800 keys and makes several queries before the connection is open. */
  override readonly sessions: Partial<SessionTiming>;

  override readonly acts = ['seen', 'react'] as const;
  private readonly options: ResolvedBaileysOptions;
  private readonly memories = new LRUCache<string, SessionMemory>(atMost(MAX_SESSIONS));
  private library: Baileys | undefined;
  private unguardConsole: () => void = () => undefined;

  /**
   * Returns the value for a channel's option `transport`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: BaileysOptions = {}): BaileysSource {
    // The options are checked here too, so that the error's stack shows the host's call.
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

  /** @throws MessagingOptionsError if `baileys` is not installed or accepts a forged signature */
  override async start(): Promise<void> {
    const library = await loadBaileys();
    verifyKeySignatures(library);
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
    if (order.linked && credentials.number === undefined) return missingCredentialsLink(listener);
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

  override async openFile(file: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { mediaUrl: origin, uploadAgent: agent } = this.options;
    return downloadMedia(readFile(file), { origin, agent }, signal);
  }

  override async stop(): Promise<void> {
    this.unguardConsole();
    this.unguardConsole = () => undefined;
    this.memories.clear();
  }
}

/** Returns a link that only ends, for a linked session whose credentials are missing. */
function missingCredentialsLink(listener: LinkListener): Link {
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

/** The size and lifetime of the cache of keys, which are read repeatedly while messages are exchanged. */
const KEY_CACHE_SIZE = 500;
const KEY_CACHE_MS = 5 * MINUTE_MS;

/** The domains of groups, broadcasts and statuses, and newsletters. */
const GROUP_DOMAINS = ['@g.us', '@broadcast', '@newsletter'];

/** Returns Baileys' settings for a connection that sends, and that receives from persons. */
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
    // If this were true, the phone would stop notifying its owner of new messages.
    markOnlineOnConnect: false,
    // Our own messages need no events, because receipts are read from the wire.
    emitOwnEvents: false,
    syncFullHistory: false,
    // Old conversations are not read. The first part is needed, because it maps people's addresses.
    shouldSyncHistoryMessage: ({ syncType }) => syncType !== FULL && syncType !== RECENT,
    // Messages in groups are not passed on and would only cost time and keys.
    shouldIgnoreJid: (jid) => GROUP_DOMAINS.some((domain) => jid.endsWith(domain)),
    // A failed write is not retried: the connection ends, and the next one reads the stored state.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    userDevicesCache: memory.devices,
    msgRetryCounterCache: memory.retries,
  };
}
