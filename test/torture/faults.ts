import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/common/until.js';
import type { CrashLoad } from '../support/crash/crash-load.js';
import type { CrashProcess } from '../support/crash/crash-process.js';
import type { OwnRedis } from '../support/databases/own-redis.js';
import type { CountingCarrier } from './counting-carrier.js';
import type { TortureDatabase } from './databases.js';
import { byForm, drawn, short } from './form.js';

/** The things that a fault may affect. */
export interface Ground {
  readonly hosts: readonly [CrashProcess, ...CrashProcess[]];
  readonly database: TortureDatabase;
  readonly carrier: CountingCarrier;
  readonly random: () => number;
  /** Only if the hosts have one. */
  readonly redis?: OwnRedis;
}

/** The same while clients send. */
export interface UnderFire extends Ground {
  readonly load: CrashLoad;
}

/** Something that goes wrong under load. It is over when the promise resolves. */
export interface Fault {
  readonly name: string;
  readonly fits: (ground: Ground) => boolean;
  /** Returns how often it struck. */
  readonly strike: (ground: UnderFire) => Promise<number>;
}

/** Longer than the hosts' leases of deliveries (2.5 s) and sessions (1 s), and than a wait for a lock (5 s). */
const PAST_A_LEASE_MS = byForm(6500, 12_000);
/** In the full form, longer than a request (30 s) and a statement (25 s) may take. */
const STALL_MS = byForm(3000, 40_000);
/** How often a process is stopped until it stands within a transaction. */
const MAX_STOPS = 60;

const always = () => true;

/** Kills one after the other. In the end none of them has survived. */
const kill = (times: number): Fault => ({
  name: 'SIGKILL',
  fits: always,
  strike: async ({ hosts, random }) => {
    for (let time = 0; time < times; time++) {
      const host = drawn(random, hosts);
      await pause(random() * 400);
      await host.end('SIGKILL');
      const { answering } = host.start();
      // Sometimes it does not even live long enough to answer.
      if (time % 4 === 1) await pause(random() * 500);
      else await answering;
    }
    for (const host of hosts) {
      await host.end('SIGKILL');
      await host.start().answering;
    }
    return times + hosts.length;
  },
});

/** @param all one after the other; otherwise one of them */
const freeze = (all: boolean): Fault => ({
  name: 'SIGSTOP past a lease',
  fits: ({ hosts }) => hosts.length > 1,
  strike: async ({ hosts, database, random }) => {
    const stopped = all ? hosts : [drawn(random, hosts)];
    for (const host of stopped) {
      host.signal('SIGSTOP');
      // If that is visible, within a transaction that the others wait for.
      for (let time = 0; time < MAX_STOPS && database.standsStill; time++) {
        await pause(60);
        if (await database.standsStill()) break;
        host.signal('SIGCONT');
        await pause(random() * 60);
        host.signal('SIGSTOP');
      }
      await pause(PAST_A_LEASE_MS);
      host.signal('SIGCONT');
    }
    return stopped.length;
  },
});

/** @param pauseMs between two cuts */
const cut = (times: number, pauseMs: (random: () => number) => number): Fault => ({
  name: 'connections cut',
  fits: ({ database }) => database.cut !== undefined,
  strike: async ({ database, random }) => {
    let cut = 0;
    for (let time = 0; time < times; time++) {
      await pause(pauseMs(random));
      cut += (await database.cut?.()) ?? 0;
    }
    return cut;
  },
});

const restart = (mode: 'fast' | 'immediate', times: number): Fault => ({
  name: mode === 'fast' ? 'server restarted' : 'server stopped at once',
  fits: ({ database }) => database.server !== undefined,
  strike: async ({ database }) => {
    for (let time = 0; time < times; time++) {
      await database.server?.stop(mode);
      await pause(500);
      await database.server?.start();
    }
    return times;
  },
});

// RLIMIT_FSIZE needs no privileges. It takes effect where a full disk would: at any write that makes a file longer,
// within a transaction, a commit or a checkpoint. SQLite reports it as an I/O error, and a file system without space as
// SQLITE_FULL.
const noRoom: Fault = {
  name: 'no room for the file',
  fits: ({ database }) => database.engine === 'sqlite',
  strike: async ({ hosts }) => {
    for (let time = 0; time < byForm(1, 5); time++) {
      for (const { pid } of hosts) limitFiles(pid, '4096:');
      await pause(1000);
      for (const { pid } of hosts) limitFiles(pid, 'unlimited:');
    }
    return byForm(1, 5);
  },
};

const redisGone = (times: number): Fault => ({
  name: 'Redis flushed, stopped and started',
  fits: ({ redis }) => redis !== undefined,
  strike: async ({ hosts, redis }) => {
    for (let time = 0; time < times; time++) {
      await redis?.flush();
      await pause(500);
      await redis?.stop();
      await pause(byForm(500, 5000));
      await redis?.start();
      // They come back by themselves.
      await until(async () => (await redis?.listeners()) === hosts.length);
    }
    return times;
  },
});

export const FAULTS: readonly Fault[] = [
  kill(byForm(2, 15)),
  freeze(false),
  cut(byForm(10, 60), (random) => 50 + random() * 100),
  {
    name: `connections frozen ${STALL_MS / 1000} s`,
    fits: ({ database }) => database.proxy !== undefined,
    strike: async ({ database }) => {
      database.proxy?.stall();
      await pause(STALL_MS);
      database.proxy?.resume();
      return 1;
    },
  },
  restart('fast', byForm(1, 4)),
  restart('immediate', byForm(1, 4)),
  noRoom,
  {
    name: 'carrier without answers',
    fits: always,
    strike: async ({ carrier }) => {
      const { dropShare, dropped } = carrier;
      carrier.dropShare = 0.9;
      await pause(byForm(1500, 10_000));
      carrier.dropShare = dropShare;
      return carrier.dropped - dropped;
    },
  },
];

/** On processes with roles of their own, and Redis between them. */
export const queueFaults = (kills: number): readonly Fault[] => [
  kill(kills),
  freeze(!short),
  cut(byForm(20, 600), () => 50),
  restart('immediate', byForm(2, 10)),
  noRoom,
  redisGone(byForm(1, 5)),
];

function limitFiles(pid: number, soft: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${soft}`]);
}
