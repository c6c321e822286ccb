import { Clock } from '../common/clock.js';
import { IdGenerator } from '../common/ids.js';
import { loadPeer } from '../common/load-peer.js';
import { any, group, isRecord, OptionPlace, type OptionsOf, type SettingsOf, text } from '../common/options.js';
import type { Wire } from './wire-connection.js';
import { WireNotifier } from './wire-notifier.js';

/** Options of {@link PostgresNotifier}. */
export interface PostgresNotifierOptions {
  /** `postgres://…`, the URL of the database itself. A pooler in transaction mode does not support LISTEN. */
  readonly url: string;
  /**
   * The channel of NOTIFY: 1 to 63 characters of `a-z 0-9 _`, the first one a letter. All processes must use the same
   * channel. Default `nestjs_messaging`.
   */
  readonly channel?: string | undefined;
  /** Further options of the `Client` of `pg`, such as `ssl`. Default none. */
  readonly client?: Readonly<Record<string, unknown>> | undefined;
}

const OPTIONS = {
  url: text(/^postgres(ql)?:\/\//, 'a URL that starts with postgres://'),
  channel: text(/^[a-z][a-z0-9_]{0,62}$/, '1 to 63 of a-z 0-9 _, a letter first').or('nestjs_messaging'),
  client: any((given, place) => (isRecord(given) ? given : place.refuse('must be an object'))).or({}),
} satisfies OptionsOf<PostgresNotifierOptions>;

/** The value of the option `notifier` that `PostgresNotifier.forRoot` returns. */
export interface PostgresNotifierSource {
  readonly inject: [typeof Clock, typeof IdGenerator];
  readonly useFactory: (clock: Clock, ids: IdGenerator) => PostgresNotifier;
}

/** The defaults of `pg`'s options. The time-outs are for connecting and for a statement, in milliseconds. */
const DEFAULTS = {
  application_name: 'nestjs-messaging notifier',
  connectionTimeoutMillis: 5000,
  query_timeout: 5000,
  keepAlive: true,
};

const DEAF =
  'The database accepts notices, but none comes back. Is there a pooler in transaction mode in between, such as PgBouncer? Give the URL of PostgreSQL itself. Until then workers of other processes poll, and their caches age.';

/**
 * Notifies all processes on one PostgreSQL database by NOTIFY. It uses two connections of its own and never the transaction of an
 * accept, because commits with a NOTIFY wait for each other. Needs the optional peer dependency `pg`.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({ notifier: PostgresNotifier.forRoot({ url: 'postgres://app@db.internal/app' }) });
 * ```
 */
export class PostgresNotifier extends WireNotifier {
  private readonly settings: SettingsOf<typeof OPTIONS>;

  /**
   * The value of the option `notifier`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: PostgresNotifierOptions): PostgresNotifierSource {
    readSettings(options);
    return { inject: [Clock, IdGenerator], useFactory: (clock, ids) => new PostgresNotifier(options, clock, ids) };
  }

  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  constructor(options: PostgresNotifierOptions, clock: Clock, ids: IdGenerator) {
    super(clock, ids, DEAF);
    this.settings = readSettings(options);
  }

  override async onModuleInit(): Promise<void> {
    await this.driver();
  }

  /**
   * Opens one connection that listens and one that sends. If one connection did both, some poolers would return its own
   * notices although LISTEN does not work.
   */
  protected override async open(received: (payload: unknown) => void, lost: (error?: unknown) => void): Promise<Wire> {
    const { Client } = await this.driver();
    const { url, channel, client } = this.settings;
    const connection = () => {
      const made = new Client({ ...DEFAULTS, ...client, connectionString: url });
      made.on('error', lost);
      made.on('end', () => lost());
      return made;
    };
    const [listening, speaking] = [connection(), connection()];
    const close = () => {
      for (const each of [listening, speaking]) void each.end().catch(() => undefined);
    };
    try {
      await Promise.all([listening.connect(), speaking.connect()]);
      listening.on('notification', ({ payload }) => received(payload));
      await listening.query(`LISTEN ${channel}`);
    } catch (error) {
      close();
      throw error;
    }
    return { send: (payload) => speaking.query('SELECT pg_notify($1, $2)', [channel, payload]), close };
  }

  private async driver() {
    const { default: pg } = await loadPeer('PostgresNotifier', 'pg', () => import('pg'));
    return pg;
  }
}

function readSettings(options: unknown): SettingsOf<typeof OPTIONS> {
  const place = new OptionPlace('', (path) => `PostgresNotifier: ${path === '' ? 'the options' : path}`);
  return group(OPTIONS, () => 'must be an object with url').read(options, place);
}
