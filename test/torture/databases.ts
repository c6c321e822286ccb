import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { listens } from '../support/common/listens.js';
import { FailoverPair, hasFailover } from './failover-pair.js';
import { hasGalera, OwnGalera } from './own-galera.js';
import { OwnPostgres } from './own-postgres.js';
import { StallingProxy } from './stalling-proxy.js';

/** One server, or one file. */
export type Single = 'sqlite' | 'postgres' | 'mariadb';
export type Engine = Single | 'galera' | 'failover';

/** A database that belongs to one test, and what may be done to it. */
export interface TortureDatabase {
  readonly engine: Engine;
  /** The URL for the test itself. */
  readonly url: string;
  /** The URL for hosts: past `proxy`, if there is a server. */
  readonly hostUrl: string;
  /** If each host has its own connection to the database: these URLs in turn. */
  readonly hostUrls?: readonly string[];
  /** Further nodes, on which the ledger must be the same. */
  readonly replicas?: readonly string[];
  readonly proxy?: StallingProxy;
  readonly server?: OwnPostgres;
  readonly cluster?: OwnGalera;
  readonly pair?: FailoverPair;
  /** Cuts every connection of the hosts. Returns how many. */
  cut?(): Promise<number>;
  /** Whether a transaction on the parts of SMS stands still, like those of a stopped process. */
  standsStill?(): Promise<boolean>;
  close(): Promise<void>;
}

const MAKERS = { postgres, mariadb, galera, failover };
const STANDING = `SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'
  AND query LIKE '%messaging_sms_%' AND clock_timestamp() - state_change > interval '40 milliseconds'`;
const MARIADB = { port: 3306, url: 'mysql://root@127.0.0.1' };
let made = 0;

/** Undefined if the engine is not available; with `CI=true` that is an error. */
export async function makeDatabase(engine: Engine): Promise<TortureDatabase | undefined> {
  if (engine === 'sqlite') return sqlite();
  const database = await MAKERS[engine]();
  if (!database && process.env.CI === 'true') throw new Error(`There is no ${engine} on this machine.`);
  return database;
}

function sqlite(): TortureDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-'));
  const url = `sqlite:${join(folder, 'messaging.db')}`;
  const close = async () => rmSync(folder, { recursive: true });
  return { engine: 'sqlite', url, hostUrl: url, close };
}

async function postgres(): Promise<TortureDatabase | undefined> {
  const server = await OwnPostgres.start();
  if (!server) return undefined;
  await server.execute('CREATE DATABASE torture');
  const proxy = await StallingProxy.listen(server.port);
  const cut = async () => {
    const ports = [0, ...proxy.portsAtServer].join();
    const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port IN (${ports})`;
    return (await server.execute(sql)).length;
  };
  const standsStill = async () => (await server.execute(STANDING)).length > 0;
  const close = async () => {
    await proxy.close();
    await server.close();
  };
  const [url, hostUrl] = [server.url('torture'), server.url('torture', proxy.port)];
  return { engine: 'postgres', url, hostUrl, proxy, server, cut, standsStill, close };
}

async function mariadb(): Promise<TortureDatabase | undefined> {
  if (!(await listens(MARIADB.port))) return undefined;
  const name = `${process.env.TORTURE_DATABASES ?? `messaging_torture_${process.pid}_`}${++made}_${Date.now()}`;
  await onMariadb(`CREATE DATABASE ${name}`);
  const proxy = await StallingProxy.listen(MARIADB.port);
  const cut = async () => {
    const all = await onMariadb(`SELECT id, host FROM information_schema.processlist WHERE db = '${name}'`);
    const rows = all.filter(({ host }) => proxy.portsAtServer.includes(Number(String(host).split(':')[1])));
    // A database that no longer exists need not be dropped.
    for (const { id } of rows) await onMariadb(`KILL ${Number(id)}`).catch(() => undefined);
    return rows.length;
  };
  const close = async () => {
    await proxy.close();
    await onMariadb(`DROP DATABASE ${name}`);
  };
  const [url, hostUrl] = [MARIADB.port, proxy.port].map((port) => `${MARIADB.url}:${port}/${name}`);
  return { engine: 'mariadb', url: url ?? '', hostUrl: hostUrl ?? '', proxy, cut, close };
}

/** Each host has a node of its own. The test looks at the first one. */
async function galera(): Promise<TortureDatabase | undefined> {
  if (!hasGalera()) return undefined;
  const cluster = await OwnGalera.start();
  const [url, ...replicas] = cluster.nodes.map((node) => node.url);
  const hostUrls = [url ?? '', ...replicas];
  return {
    engine: 'galera',
    url: url ?? '',
    hostUrl: url ?? '',
    hostUrls,
    replicas,
    cluster,
    close: () => cluster.close(),
  };
}

/** The first host's connections are cut when HAProxy marks a server as down. The second host's are not. */
async function failover(): Promise<TortureDatabase | undefined> {
  const pair = hasFailover() ? await FailoverPair.start() : undefined;
  if (!pair) return undefined;
  const [url, hostUrls] = [pair.cuttingUrl, [pair.cuttingUrl, pair.keepingUrl]];
  return { engine: 'failover', url, hostUrl: url, hostUrls, pair, close: () => pair.close() };
}

async function onMariadb(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await createConnection(`${MARIADB.url}:${MARIADB.port}`);
  try {
    const [rows] = await connection.query(sql);
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  } finally {
    await connection.end();
  }
}
