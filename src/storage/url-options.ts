/** The values of an option of a database URL that its driver accepts, and what to write instead of other values. */
interface UrlOption {
  readonly values: RegExp;
  readonly cure?: string;
}

type UrlOptions = Readonly<Record<string, UrlOption>>;

const ANY: UrlOption = { values: /./s };
const MILLISECONDS: UrlOption = { values: /^\d+$/, cure: 'a number of milliseconds' };

/**
 * The options of a URL that `pg` and `pg-connection-string` read. They ignore all other names, and some values of
 * these.
 */
const POSTGRES: UrlOptions = {
  host: ANY,
  port: { values: /^\d+$/, cure: 'a number' },
  user: ANY,
  password: ANY,
  options: ANY,
  application_name: ANY,
  fallback_application_name: ANY,
  statement_timeout: MILLISECONDS,
  lock_timeout: MILLISECONDS,
  idle_in_transaction_session_timeout: MILLISECONDS,
  query_timeout: MILLISECONDS,
  client_encoding: { values: /^utf-?8$/i, cure: 'UTF8, which the driver always asks for' },
  sslmode: {
    values: /^(disable|prefer|require|verify-ca|verify-full|no-verify)$/,
    cure: 'disable, require, verify-ca, verify-full, or no-verify, which encrypts without a look at the certificate',
  },
  // `false` is not accepted: the driver would read it as a text and encrypt.
  ssl: { values: /^(true|1|0|no-verify)$/, cure: 'true, 1, 0 or no-verify' },
  sslcert: ANY,
  sslkey: ANY,
  sslrootcert: {
    values: /^(?!system$)/,
    cure: "the path of a file; without the option, Node.js' own certificates are used",
  },
  sslnegotiation: { values: /^(postgres|direct)$/, cure: 'postgres or direct' },
  uselibpqcompat: { values: /^(true|false)$/, cure: 'true or false' },
};

/** The fields of `ssl` that `mysql2` reads. */
const TLS = 'ca cert ciphers key maxVersion minVersion passphrase rejectUnauthorized verifyIdentity'.split(' ');

/** The options of a URL that we pass to `mysql2`. TypeORM drops everything after the `?`. */
const MYSQL: UrlOptions = {
  ssl: {
    values: /^(true|1|false|0|\{.*\})$/s,
    cure: `true, false, or JSON with ${TLS.join(', ')}`,
  },
  'ssl-mode': {
    values: /^(disabled|required|verify_ca|verify_identity)$/i,
    cure: 'DISABLED, REQUIRED, which encrypts without a look at the certificate, VERIFY_CA or VERIFY_IDENTITY',
  },
  charset: { values: /^utf8mb4(_\w+)?$/i, cure: 'utf8mb4, in which all texts can be kept' },
  timezone: {
    values: /^(local|Z|[ +-]\d\d:\d\d)$/,
    cure: 'local, Z or an offset such as %2B02:00; our times are numbers, which no time zone changes',
  },
  connectTimeout: MILLISECONDS,
  connectionLimit: { values: /^[1-9]\d*$/, cure: 'a number' },
  socketPath: ANY,
};

/** Options that other programs put into URLs, and what to do instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  channel_binding: 'The driver cannot require it; sslmode=verify-full keeps others from reading along',
  connect_timeout: 'Connections are waited for 5 s',
  connection_limit: 'For another number of connections, give a DataSource',
  dbname: 'Write it behind the host: postgres://host/dbname',
  pgbouncer: 'Give pooler: "transaction" beside the url',
  pool_timeout: 'For other time-outs, give a DataSource',
  schema: 'Write options=-c%20search_path%3D…',
  search_path: 'Write options=-c%20search_path%3D…',
  currentSchema: 'Write options=-c%20search_path%3D…',
  sslaccept: 'Write ssl=true, or ssl={"rejectUnauthorized":false}',
  sslMode: 'Write ssl-mode',
  useSSL: 'Write ssl=true',
};

/** The scheme, the user and the password, the host and the path of a URL; then its options. A password may have a `?`. */
const QUERY = /^[^:]+:(?:\/\/|(?!\/))(?:[^/]*@|(?![^/]*@))[^/?#]*(?:\/[^?#]*)?(\?[^#]*)/;

/**
 * Finds the first option of a database URL that would be ignored, and returns a sentence about it; undefined if all
 * options have an effect. The sentence shows no value, and no name that may be part of a password.
 */
export function faultOfUrl(url: string): string | undefined {
  if (url.startsWith('sqlite:')) {
    if (/^sqlite:\s*(file:|:(?!memory:\s*$))/.test(url)) {
      return 'behind "sqlite:" stands a path as it is, and a file would be made of this name. Write sqlite:x.db, or sqlite::memory: for tests';
    }
    if (!url.includes('?')) return undefined;
    return 'what follows the "?" in the URL would be part of the name of the file, as SQLite takes no options there. Leave it out';
  }
  const known = url.startsWith('postgres') ? POSTGRES : MYSQL;
  const options = queryOf(url);
  for (const [name, value] of options) {
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!option) {
      const shown = /^[\w.-]+$/.test(name) && !queryIn(url).includes('@') ? `the option ${name}` : 'an option';
      const instead = Object.hasOwn(INSTEAD, name) ? `${INSTEAD[name]}. ` : '';
      return `the URL has ${shown}, which would be ignored. ${instead}There are ${Object.keys(known).join(', ')}`;
    }
    const isFine = option.values.test(value) && !(value.startsWith('{') && name === 'ssl' && !tlsOf(value));
    if (!isFine) return `${name} in the URL must be ${option.cure ?? 'given a value'}`;
    if (options.getAll(name).length > 1) return `the URL has ${name} twice`;
  }
  if (options.has('ssl') && options.has('ssl-mode')) return 'give either ssl or ssl-mode in the URL';
  return undefined;
}

/** Divides a URL of MariaDB or MySQL into the URL without its options, and the options in TypeORM's form. */
export function mysqlOptionsOf(url: string) {
  const given = queryOf(url);
  const number = (name: string) => Number(given.get(name));
  return {
    url: url.replace(queryIn(url), ''),
    ...(given.has('connectTimeout') && { connectTimeout: number('connectTimeout') }),
    ...(given.has('connectionLimit') && { poolSize: number('connectionLimit') }),
    ...(given.has('charset') && { charset: given.get('charset') ?? '' }),
    ...(given.has('socketPath') && { socketPath: given.get('socketPath') ?? '' }),
    // In a URL, a plus means a blank.
    ...(given.has('timezone') && { timezone: given.get('timezone')?.replace(' ', '+') ?? '' }),
    ...sslOf(given.get('ssl') ?? '', given.get('ssl-mode')?.toUpperCase()),
  };
}

/** The option `ssl` for `mysql2`, which checks the names in a certificate only with `verifyIdentity`. */
function sslOf(ssl: string, mode: string | undefined): { readonly ssl?: object } {
  const tls = tlsOf(ssl);
  if (tls) return { ssl: tls };
  if (mode === 'REQUIRED') return { ssl: { rejectUnauthorized: false } };
  if (mode === 'VERIFY_CA') return { ssl: { rejectUnauthorized: true } };
  const isChecked = mode === 'VERIFY_IDENTITY' || ssl === 'true' || ssl === '1';
  return isChecked ? { ssl: { rejectUnauthorized: true, verifyIdentity: true } } : {};
}

/** JSON with options of TLS; undefined for anything else. */
function tlsOf(text: string): object | undefined {
  try {
    const tls: unknown = JSON.parse(text);
    const isKnown = typeof tls === 'object' && tls !== null && Object.keys(tls).every((name) => TLS.includes(name));
    return isKnown ? tls : undefined;
  } catch {
    return undefined;
  }
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(queryIn(url));
}

function queryIn(url: string): string {
  return QUERY.exec(url)?.[1] ?? '';
}
