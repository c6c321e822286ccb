import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { type Dispatcher, Pool } from 'undici';
import { startSink } from '../smpp/smpp.js';
import { type Load, sqliteUrl, startTarget } from '../target.js';
import { median, type Versus, versus } from '../versus.js';

/** A gateway that accepts SMS over HTTP and hands them to a carrier that accepts everything. */
interface Gateway {
  readonly origin: string;
  /** Sends one SMS to each number. */
  readonly request: Omit<Dispatcher.RequestOptions, 'origin'>;
  /** The status of the answer to an accepted request. */
  readonly success: number;
  /** Processor time so far, in microseconds. */
  cpu(): Promise<number>;
  /** How many of the accepted messages the carrier has not taken yet. */
  waiting(accepted: number): Promise<number>;
  /** How many messages the carrier has taken. */
  delivered(): Promise<number>;
  stop(): Promise<void>;
}

/** Our figures against Kannel's. The unit is the message, so a request to 100 recipients counts 100 times. */
export interface AgainstKannel {
  readonly accepted: Versus;
  /** Messages a second from the first request until the carrier has taken all of them, as medians of the turns. */
  readonly delivered: { readonly ours: number; readonly kannel: number };
  /** How many files Kannel has in its spool after one request, while no carrier takes the messages. */
  readonly spooled: number;
}

const TEXT = 'Bonjour, votre colis est arrive.';
const CONNECTIONS = 32;
const RAMP_S = 1;
const PATIENCE_MS = 60_000;
const ADMIN_PORT = 13_000;
const SMSBOX_PORT = 13_001;
const SENDSMS_PORT = 13_013;
const SMSC_PORT = 2775;
const SUCCESS_OF_KANNEL = 202;

/**
 * Lets our one process (Fastify, SQLite, delivery to the sandbox in the same process) and Kannel's two boxes (a spool,
 * an SMSC that accepts everything) take turns. Before the other's turn begins, the carrier has taken all messages, so
 * nobody's backlog slows the other.
 * @returns undefined if Kannel is not installed
 * @throws Error if a request is refused, or if a carrier got another number of messages than were accepted
 */
export async function benchKannel(turns: number, recipients: number): Promise<AgainstKannel | undefined> {
  const numbers = Array.from({ length: recipients }, (_, index) => String(22_670_000_000 + index));
  const rival = await startKannel(numbers);
  if (!rival) return undefined;
  const ours = new Presser(await startOurs(numbers), recipients, 0);
  const kannel = new Presser(rival.gateway, recipients, recipients);
  try {
    const accepted = await versus(turns, ours.press, kannel.press);
    for (const each of [ours, kannel]) await each.check();
    return {
      accepted,
      delivered: { ours: median(ours.deliveredPerSecond), kannel: median(kannel.deliveredPerSecond) },
      spooled: rival.spooled,
    };
  } finally {
    for (const each of [ours, kannel]) await each.stop();
  }
}

/** Loads one gateway, and counts what it has accepted. */
class Presser {
  readonly deliveredPerSecond: number[] = [];
  private readonly pool: Pool;

  constructor(
    private readonly gateway: Gateway,
    private readonly recipients: number,
    private accepted: number,
  ) {
    this.pool = new Pool(gateway.origin, { connections: CONNECTIONS });
  }

  readonly press = async (seconds: number): Promise<Load> => {
    const cpuBefore = await this.gateway.cpu();
    const begun = performance.now();
    const ramp = await this.send(RAMP_S);
    const turn = performance.now();
    const waits = await this.send(seconds);
    const perSecond = (waits.length * this.recipients * 1000) / (performance.now() - turn);
    await until(async () => (await this.gateway.waiting(this.accepted)) === 0);
    const delivered = (ramp.length + waits.length) * this.recipients;
    this.deliveredPerSecond.push((delivered * 1000) / (performance.now() - begun));
    // The delivery of the backlog belongs to the price of a message, so it is counted too.
    const cpu = ((await this.gateway.cpu()) - cpuBefore) / delivered;
    return { perSecond, cpu, p99: waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0, refused: 0 };
  };

  async check(): Promise<void> {
    const delivered = await this.gateway.delivered();
    if (delivered !== this.accepted) {
      throw new Error(`${this.gateway.origin} accepted ${this.accepted} messages and delivered ${delivered}.`);
    }
  }

  async stop(): Promise<void> {
    await this.pool.close();
    await this.gateway.stop();
  }

  /** Returns how long each request took, in milliseconds. Every request that was begun is answered. */
  private async send(seconds: number): Promise<number[]> {
    const { request, success } = this.gateway;
    const waits: number[] = [];
    const end = performance.now() + seconds * 1000;
    const caller = async () => {
      for (let begun = performance.now(); begun < end; begun = performance.now()) {
        const { statusCode, body } = await this.pool.request(request);
        const answer = await body.text();
        if (statusCode !== success) throw new Error(`${statusCode}: ${answer.slice(0, 200)}`);
        waits.push(performance.now() - begun);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, caller));
    this.accepted += waits.length * this.recipients;
    return waits;
  }
}

async function startOurs(number: readonly string[]): Promise<Gateway> {
  const place = sqliteUrl();
  const target = await startTarget({ kind: 'ours', adapter: 'fastify', url: place.url, dispatch: true });
  const database = new Database(place.url.slice('sqlite:'.length), { readonly: true });
  const count = (condition: string) =>
    Number(database.prepare(`SELECT count(*) FROM messaging_recipient WHERE ${condition}`).pluck().get());
  return {
    origin: target.base,
    request: {
      method: 'POST',
      path: '/api/v1/send/sms',
      headers: { 'content-type': 'application/json', 'x-api-key': target.key },
      body: JSON.stringify({ signature: 'INFOS', content: TEXT, number }),
    },
    success: 200,
    cpu: target.cpu,
    waiting: async () => count('due_at IS NOT NULL'),
    delivered: async () => count("status = 'delivered'"),
    stop: async () => {
      database.close();
      await target.stop();
      await place.drop();
    },
  };
}

/** Starts Kannel without a carrier, lets it spool one request, and then starts the carrier. */
async function startKannel(
  numbers: readonly string[],
): Promise<{ readonly gateway: Gateway; readonly spooled: number } | undefined> {
  const [bearerbox, smsbox] = [programOf('bearerbox'), programOf('smsbox')];
  if (bearerbox === undefined || smsbox === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'messaging-bench-kannel-'));
  const spool = join(folder, 'spool');
  mkdirSync(spool);
  const host = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
  writeFileSync(join(folder, 'kannel.conf'), configuration(host, spool));
  const boxes = [await startBox(bearerbox, folder, `http://${host}:${ADMIN_PORT}`)];
  const origin = `http://${host}:${SENDSMS_PORT}`;
  boxes.push(await startBox(smsbox, folder, origin));
  const text = { from: 'INFOS', to: numbers.join(' '), text: TEXT };
  const path = `/cgi-bin/sendsms?${new URLSearchParams({ username: 'bench', password: 'bench', ...text })}`;
  const first = await fetch(`${origin}${path}`);
  if (first.status !== SUCCESS_OF_KANNEL) throw new Error(`Kannel answers ${first.status}: ${await first.text()}`);
  const spooled = readdirSync(spool, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).length;
  const sink = await startSink(SMSC_PORT, host);
  await until(async () => (await sink.submits()) === numbers.length);
  const gateway: Gateway = {
    origin,
    request: { method: 'GET', path },
    success: SUCCESS_OF_KANNEL,
    cpu: async () => boxes.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    waiting: async (accepted) => accepted - (await sink.submits()),
    delivered: sink.submits,
    stop: async () => {
      for (const box of boxes) box.kill('SIGKILL');
      await Promise.all(boxes.map((box) => once(box, 'exit')));
      sink.process.disconnect();
      rmSync(folder, { recursive: true });
    },
  };
  return { gateway, spooled };
}

/** The path of a program; undefined if it is not installed. Debian has Kannel's in a folder that is not in every path. */
function programOf(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Starts one of Kannel's processes. It logs only the error that ends it (`-v 4`), and it ends with us (`setpriv`). */
async function startBox(file: string, folder: string, url: string): Promise<ChildProcess> {
  const args = ['--pdeathsig', 'KILL', file, '-v', '4', 'kannel.conf'];
  const box = spawn('setpriv', args, { cwd: folder, stdio: 'ignore' });
  await until(() =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return box;
}

/** The processor time of a process on Linux, in microseconds. Linux counts hundredths of a second. */
function cpuOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [utime, stime] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return (Number(utime) + Number(stime)) * 10_000;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('A gateway did not start, or did not deliver what it had accepted.');
    await pause(20);
  }
}

/** The window (`max-pending-submits`) is wider than the default of 10, so that it does not slow Kannel. */
function configuration(host: string, spool: string): string {
  return `
group = core
admin-port = ${ADMIN_PORT}
admin-interface = ${host}
admin-password = bench
smsbox-port = ${SMSBOX_PORT}
smsbox-interface = ${host}
dlr-storage = internal
store-type = spool
store-location = "${spool}"

group = smsc
smsc = smpp
host = ${host}
port = ${SMSC_PORT}
smsc-username = bench
smsc-password = bench
system-type = "VMA"
transceiver-mode = true
max-pending-submits = 100
reconnect-delay = 1

group = smsbox
bearerbox-host = ${host}
bearerbox-port = ${SMSBOX_PORT}
sendsms-port = ${SENDSMS_PORT}
sendsms-interface = ${host}

group = sendsms-user
username = bench
password = bench

group = sms-service
keyword = default
text = none
`;
}
