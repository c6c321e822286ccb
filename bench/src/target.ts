import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';

/** A server in a process of its own. */
export interface Target {
  readonly program: string;
  readonly base: string;
  readonly key: string;
  /** The links with which users sign in, if the server has users. */
  readonly links: unknown;
  /** Peak resident memory of the server so far, in bytes. */
  memory(): Promise<number>;
  /** The bytes of the server's heap that are in use, after a garbage collection. */
  heap(): Promise<number>;
  /** Lets the server send a code to each number. Returns each number with its code. */
  codes(numbers: readonly string[]): Promise<[number: string, code: string][]>;
  /** Processor time of the server so far, in microseconds. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

const SERVER = fileURLToPath(new URL('./server.js', import.meta.url));
/** The program of a better-auth server, for `startTarget`. */
export const BETTER_AUTH = fileURLToPath(new URL('../rivals/better-auth-server.mjs', import.meta.url));

/** Starts a server. `order` is the order for `server.ts`. */
export async function startTarget(order: object, program = SERVER): Promise<Target> {
  const child = fork(program, [JSON.stringify(order)], { env: { ...process.env, NODE_ENV: 'production' } });
  const { port, key, links } = await messageOf(child);
  return {
    program,
    base: `http://127.0.0.1:${port}`,
    key: String(key),
    links,
    memory: async () => {
      child.send('memory');
      return Number((await messageOf(child)).rss);
    },
    heap: async () => {
      child.send('heap');
      return Number((await messageOf(child)).heap);
    },
    codes: async (numbers) => {
      child.send({ codes: numbers });
      return Object((await messageOf(child)).codes);
    },
    cpu: async () => {
      child.send('memory');
      return Number((await messageOf(child)).cpu);
    },
    stop: async () => {
      const closed = once(child, 'exit');
      child.send('stop');
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function messageOf(child: ChildProcess): Promise<Record<string, unknown>> {
  const [message] = await once(child, 'message');
  return message;
}

/** The result of one run. */
export interface Load {
  /** The processor time of the server, in microseconds per request. */
  readonly cpu: number;
  readonly perSecond: number;
  readonly p99: number;
  readonly refused: number;
}

/**
 * The warm-up time in seconds. A server that had nothing to do for a while is slow at first, and the slower the more it
 * has to do.
 */
const RAMP_S = 1;

/**
 * Loads a server with 32 connections, for a warm-up second and then for a number of measured seconds.
 * @param bodies the body of each request. Default: one SMS to one recipient
 */
export async function load(
  target: Target,
  seconds: number,
  path = '/api/v1/send/sms',
  bodies?: Iterator<string>,
): Promise<Load> {
  const ramp = await press(target, RAMP_S, path, bodies);
  const before = await target.cpu();
  const result = await press(target, seconds, path, bodies);
  return {
    cpu: ((await target.cpu()) - before) / result.requests.total,
    // `requests.average` is not used, because it covers only whole seconds, so in a short run only a single one.
    perSecond: result.requests.total / result.duration,
    p99: result.latency.p99,
    refused: [ramp, result].reduce((sum, { non2xx, errors, timeouts }) => sum + non2xx + errors + timeouts, 0),
  };
}

function press(target: Target, duration: number, path: string, bodies: Iterator<string> | undefined) {
  return autocannon({
    url: `${target.base}${path}`,
    connections: 32,
    duration,
    method: 'POST',
    ...(bodies && { requests: [{ setupRequest: (request) => ({ ...request, body: bodies.next().value ?? '{}' }) }] }),
    headers: { 'content-type': 'application/json', 'x-api-key': target.key },
    body: ONE,
  });
}

const ONE = JSON.stringify({
  signature: 'INFOS',
  content: 'Bonjour, votre colis est arrive.',
  number: ['22670000000'],
});

/** An empty database. */
export interface TargetDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** The kinds of databases. */
export const DATABASES = ['sqlite', 'postgres', 'mariadb'] as const;

/** An empty database of a kind; undefined if there is no server. */
export async function databaseOf(kind: (typeof DATABASES)[number]): Promise<TargetDatabase | undefined> {
  if (kind === 'sqlite') return sqliteUrl();
  return kind === 'postgres' ? postgresUrl() : mariadbUrl();
}

/** A new database file in a folder of its own. */
export function sqliteUrl(): TargetDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-bench-'));
  return { url: `sqlite:${join(folder, 'bench.db')}`, drop: async () => rmSync(folder, { recursive: true }) };
}

/** A new PostgreSQL database on the standard local port; undefined if there is no server. */
export async function postgresUrl(): Promise<TargetDatabase | undefined> {
  const server = 'postgres://postgres@127.0.0.1:5432';
  return onServer(server, ' WITH (FORCE)', async (sql) => {
    const client = new Client({ connectionString: `${server}/postgres` });
    await client.connect();
    await client.query(sql);
    await client.end();
  });
}

async function mariadbUrl(): Promise<TargetDatabase | undefined> {
  const server = 'mysql://root@127.0.0.1:3306';
  return onServer(server, '', async (sql) => {
    const connection = await createConnection(server);
    await connection.query(sql);
    await connection.end();
  });
}

async function onServer(
  server: string,
  force: string,
  run: (sql: string) => Promise<void>,
): Promise<TargetDatabase | undefined> {
  const name = `messaging_bench_${process.pid}_${Date.now()}`;
  try {
    await run(`CREATE DATABASE ${name}`);
  } catch {
    return undefined;
  }
  return { url: `${server}/${name}`, drop: () => run(`DROP DATABASE ${name}${force}`) };
}
