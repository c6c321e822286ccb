import type { UserFacingSocketConfig } from 'baileys';
import type { BaileysCredentials } from './baileys-credentials.js';
import type { Baileys } from './baileys-library.js';
import type { ResolvedBaileysOptions } from './baileys-options.js';
import { BoundedCache } from './bounded-cache.js';
import type { BaileysLogger } from './quiet-logger.js';
import type { SessionMemory } from './session-memory.js';

/** Keys that are read again and again while messages go to and fro. */
const KEY_CACHE_SIZE = 500;
const KEY_CACHE_MS = 300_000;

/** Groups, broadcasts and statuses, newsletters. */
const CROWDS = ['@g.us', '@broadcast', '@newsletter'];

/** How Baileys is to run one connection of a session that only sends. */
export function socketSettings(
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
