import type { RedisClientOptions, RedisClusterOptions } from 'redis';
import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import { loadPeer } from '../../common/load-peer.js';
import { any, group, isRecord, OptionPlace, type OptionsOf, text } from '../../common/options.js';
import type { Wire } from '../wire-connection.js';
import { WireNotifier } from '../wire-notifier.js';

/** Options of {@link RedisNotifier}: `url`, `client` or both, or `cluster`. */
export interface RedisNotifierOptions {
  /** `redis://…`, or `rediss://…` with TLS. */
  readonly url?: string | undefined;
  /** The options of `createClient` of `redis`, for instance `{ socket: { tls: true, ca } }`. */
  readonly client?: RedisClientOptions | undefined;
  /** The options of `createCluster` of `redis`: `{ rootNodes, defaults }`. */
  readonly cluster?: RedisClusterOptions | undefined;
  /**
   * A prefix of the channel's name, which is `nestjs-messaging`. At most 128 visible ASCII characters. Installations
   * that share a Redis need different prefixes, even if they select different databases. Default none.
   */
  readonly prefix?: string | undefined;
}

/** The type has a name, because a spread of the union would lose which of its members the options are. */
type SocketOptions = NonNullable<NonNullable<RedisClusterOptions['defaults']>['socket']>;

const record = any((given, place) => (isRecord(given) ? given : place.refuse('must be an object')));

const OPTIONS = {
  url: text(/^rediss?:\/\//, 'a URL that starts with redis:// or rediss://').or(undefined),
  client: record.or(undefined),
  cluster: record.or(undefined),
  prefix: text(/^[\x21-\x7e]{0,128}$/, 'at most 128 visible ASCII characters').or(''),
} satisfies OptionsOf<RedisNotifierOptions>;

/** The value of the option `notifier` that `RedisNotifier.forRoot` returns. */
export interface RedisNotifierSource {
  readonly inject: [typeof Clock, typeof IdGenerator];
  readonly useFactory: (clock: Clock, ids: IdGenerator) => RedisNotifier;
}

const CONNECT_MS = 5000;

const DEAF =
  'Redis accepts notices, but none comes back. Until that is fixed, workers of other processes poll, and their caches age.';

/**
 * Notifies all processes by Redis pub/sub, on two connections of its own. Needs the optional peer dependency `redis`.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({ notifier: RedisNotifier.forRoot({ url: 'rediss://cache.internal' }) });
 * ```
 */
export class RedisNotifier extends WireNotifier {
  private readonly options: RedisNotifierOptions;

  /**
   * The value of the option `notifier`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: RedisNotifierOptions): RedisNotifierSource {
    checkOptions(options);
    return { inject: [Clock, IdGenerator], useFactory: (clock, ids) => new RedisNotifier(options, clock, ids) };
  }

  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  constructor(options: RedisNotifierOptions, clock: Clock, ids: IdGenerator) {
    super(clock, ids, DEAF);
    checkOptions(options);
    this.options = options;
  }

  override async onModuleInit(): Promise<void> {
    await this.driver();
  }

  protected override async open(received: (payload: unknown) => void, lost: (error?: unknown) => void): Promise<Wire> {
    const make = await this.maker();
    const [listening, speaking] = [make(), make()];
    const close = () => {
      for (const each of [listening, speaking]) if (each.isOpen) each.destroy();
    };
    for (const each of [listening, speaking]) each.on('error', lost);
    const channel = `${this.options.prefix ?? ''}nestjs-messaging`;
    try {
      await Promise.all([listening.connect(), speaking.connect()]);
      await listening.subscribe(channel, received);
    } catch (error) {
      close();
      throw error;
    }
    return { send: (payload) => speaking.publish(channel, payload), close };
  }

  /** Makes clients that do not reconnect by themselves, because a lost connection is replaced as a whole. */
  private async maker() {
    const { createClient, createCluster } = await this.driver();
    const { url, client = {}, cluster } = this.options;
    if (cluster) {
      const { defaults = {} } = cluster;
      return () => createCluster({ ...cluster, defaults: { ...defaults, ...lasting(defaults) } });
    }
    return () => createClient({ ...client, ...(url === undefined ? {} : { url }), ...lasting(client) });
  }

  private driver() {
    return loadPeer('RedisNotifier', 'redis', () => import('redis'));
  }
}

/** Returns the host's options of a client, with the values that a notifier needs. */
function lasting({ socket }: Pick<RedisClientOptions, 'socket'>) {
  return {
    // With the queue, notices would wait for a connection: they would arrive too late, and their number would have no
    // limit.
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_MS, ...socket, reconnectStrategy: false } as SocketOptions,
  };
}

function checkOptions(options: unknown): void {
  const place = new OptionPlace('', (path) => `RedisNotifier: ${path === '' ? 'the options' : path}`);
  const { url, client, cluster } = group(OPTIONS).read(options, place);
  if (cluster && (url ?? client)) place.refuse('have cluster beside url or client: give one of them');
  if (!cluster && !client && url === undefined) place.refuse('must have url, client or cluster');
}
