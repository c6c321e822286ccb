import 'reflect-metadata';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService, LedgerService, MessagingModule, SmsService, TypeormStorage } from 'nestjs-messaging';
import { OutboxStore } from 'nestjs-messaging/storage';
import { type OutgoingSms, SmsTransport, type SubmitResult } from 'nestjs-messaging/transports';
import { postgresUrl } from '../target.js';
import { median } from '../versus.js';

/** How a number of worker processes drained a backlog. */
export interface Drained {
  readonly workers: number;
  /** The deliveries that were settled a second. */
  readonly perSecond: number;
  /** The share of a core that each worker used. */
  readonly cpu: readonly number[];
  /** The share of all cores that was in use, by the server and the workers. */
  readonly busy: number;
  readonly load: number;
}

/** The comparison of one worker with two, in turns. */
export interface Workers {
  readonly one: readonly Drained[];
  readonly two: readonly Drained[];
  /** The rate of two workers divided by that of one, as the median of the turns. */
  readonly ratio: number;
  /** The limit of the rate of two workers, in words. */
  readonly limit: string;
}

/**
 * The backlog for a slow carrier. Two workers drain it in about five seconds if each waits half a second for the
 * carrier.
 */
const SLOWLY = 40_000;
const AT_ONCE = 200_000;
const SEND = 20_000;
/** If at least this share of the machine is in use, the machine limits two workers. */
const FULL = 0.85;

/**
 * Measures backlogs that one and two worker processes drain in turns, with a carrier that answers each batch after some
 * milliseconds and costs no CPU. Undefined without PostgreSQL.
 */
export async function benchWorkers(answersAfter: number, turns: number): Promise<Workers | undefined> {
  const [one, two, ratios]: [Drained[], Drained[], number[]] = [[], [], []];
  for (let turn = 0; turn < turns; turn++) {
    const alone = await drainedBy(1, answersAfter);
    const both = await drainedBy(2, answersAfter);
    if (!alone || !both) return undefined;
    one.push(alone);
    two.push(both);
    ratios.push(both.perSecond / alone.perSecond);
  }
  const busy = median(two.map((each) => each.busy));
  const limit =
    busy >= FULL
      ? `of two workers, ${availableParallelism()} cores with the server on them are the limit`
      : "each worker's own concurrency is the limit";
  return { one, two, ratio: median(ratios), limit };
}

/** Formats the result as one line. */
export function shownDrain({ workers, perSecond, cpu, busy, load }: Drained): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  return `${workers} ${workers === 1 ? 'worker: ' : 'workers:'} ${Math.round(perSecond)}/s; CPU of a core ${cpu.map(percent).join(' and ')}; all cores in use ${percent(busy)}, load ${load.toFixed(1)}`;
}

async function drainedBy(workers: number, answersAfter: number): Promise<Drained | undefined> {
  const place = await postgresUrl();
  if (!place) return undefined;
  const messages = answersAfter === 0 ? AT_ONCE : SLOWLY;
  const app = await startHost(place.url, undefined);
  const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'bench' });
  await app.get(LedgerService, { strict: false }).topUp(id, messages);
  for (let sent = 0; sent < messages; sent += SEND) {
    const number = Array.from({ length: SEND }, (_, index) => String(22_670_000_000 + sent + index));
    await app.get(SmsService, { strict: false }).send(id, { signature: 'INFOS', content: 'Bonjour', number });
  }
  await app.close();
  const children = Array.from({ length: workers }, () =>
    fork(fileURLToPath(import.meta.url), [place.url, String(answersAfter)], {
      env: { ...process.env, NODE_ENV: 'production' },
    }),
  );
  const drained = await measured(children, messages);
  for (const child of children) {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
  }
  await place.drop();
  return { workers, ...drained };
}

/** The report of a worker: how many deliveries it has settled, and its processor time in microseconds. */
interface WorkerReport {
  readonly settled: number;
  readonly cpu: number;
}

/** The shares of the backlog between which is measured. At the first one all workers are at work. */
const [FROM, TO] = [0.2, 0.9];

function measured(children: readonly ChildProcess[], messages: number): Promise<Omit<Drained, 'workers'>> {
  const reports = new Map<ChildProcess, WorkerReport>();
  const now = () => ({
    at: performance.now(),
    settled: [...reports.values()].reduce((sum, { settled }) => sum + settled, 0),
    cpu: children.map((child) => reports.get(child)?.cpu ?? 0),
    cores: coresOf(),
  });
  let begun: ReturnType<typeof now> | undefined;
  return new Promise((resolve, reject) => {
    for (const child of children) {
      child.once('exit', () => reject(new Error('A worker has ended.')));
      child.on('message', (message: WorkerReport) => {
        reports.set(child, message);
        const seen = now();
        if (!begun && seen.settled >= FROM * messages) begun = seen;
        if (!begun || seen.settled < TO * messages) return;
        const ms = seen.at - begun.at;
        const { settled, cpu, cores } = begun;
        resolve({
          perSecond: ((seen.settled - settled) / ms) * 1000,
          cpu: seen.cpu.map((each, index) => (each - (cpu[index] ?? 0)) / 1000 / ms),
          busy: (seen.cores.busy - cores.busy) / (seen.cores.all - cores.all),
          load: loadavg()[0] ?? Number.NaN,
        });
      });
    }
  });
}

/** The total time of all cores so far, and the part of it in which they were in use. */
function coresOf(): { readonly busy: number; readonly all: number } {
  const times = cpus().map(({ times: { user, nice, sys, irq, idle } }) => ({ busy: user + nice + sys + irq, idle }));
  const busy = times.reduce((sum, each) => sum + each.busy, 0);
  return { busy, all: times.reduce((sum, { idle }) => sum + idle, busy) };
}

/** Makes a carrier that answers a whole batch after some milliseconds. */
export function waitingTransport(answersAfter: number) {
  return class WaitingTransport extends SmsTransport {
    override readonly name = 'waiting';
    override readonly repeat = 'idempotent';

    override async start(): Promise<void> {}

    override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
      if (answersAfter > 0) await pause(answersAfter);
      return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
    }

    override async stop(): Promise<void> {}
  };
}

/** @param answersAfter the carrier's time for a worker; undefined: the host only accepts */
function startHost(url: string, answersAfter: number | undefined) {
  @Module({
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS'],
        role: answersAfter === undefined ? 'api' : 'worker',
        sms: { tariff: { base: 1, international: 1, home: 'BF' }, transport: waitingTransport(answersAfter ?? 0) },
      }),
    ],
  })
  class Host {}
  return NestFactory.createApplicationContext(Host, { logger: ['warn', 'error'] });
}

async function work(url: string, answersAfter: number): Promise<void> {
  let settled = 0;
  const app = await startHost(url, answersAfter);
  const store = app.get(OutboxStore, { strict: false });
  const settle = store.settle.bind(store);
  store.settle = async (updates) => {
    const moved = await settle(updates);
    settled += moved.length;
    const { user, system } = process.cpuUsage();
    process.send?.({ settled, cpu: user + system } satisfies WorkerReport);
    return moved;
  };
  process.on('disconnect', () => process.exit());
}

const [, , url, answersAfter] = process.argv;
if (process.send && url && answersAfter) await work(url, Number(answersAfter));
