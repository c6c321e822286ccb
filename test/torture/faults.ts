import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { CrashProcess } from '../support/crash-process.js';
import type { CountingCarrier } from './counting-carrier.js';
import type { TortureDatabase } from './databases.js';
import { byForm, drawn } from './form.js';

/** What a fault may touch. */
export interface Ground {
  readonly hosts: readonly [CrashProcess, ...CrashProcess[]];
  readonly database: TortureDatabase;
  readonly carrier: CountingCarrier;
  readonly random: () => number;
}

/** Something that goes wrong under load, and is over when it resolves. */
export interface Fault {
  readonly name: string;
  readonly fits: (ground: Ground) => boolean;
  /** Answers how often it struck. */
  readonly strike: (ground: Ground) => Promise<number>;
}

/** Longer than the hosts' leases of deliveries (2.5 s) and sessions (1 s), and than a lock is waited for (5 s). */
const PAST_A_LEASE_MS = byForm(6500, 12_000);
/** In full longer than a request may take (30 s), and a statement (25 s). */
const STALL_MS = byForm(3000, 40_000);
/** How often a process is stopped until it stands within a transaction. */
const MOST_STOPS = 60;
const CUTS = byForm(10, 60);
const KILLS = byForm(2, 15);

const always = () => true;

export const FAULTS: readonly Fault[] = [
  {
    name: 'SIGKILL',
    fits: always,
    strike: async ({ hosts, random }) => {
      for (let kill = 0; kill < KILLS; kill++) {
        const host = drawn(random, hosts);
        await pause(random() * 400);
        await host.end('SIGKILL');
        const { answering } = host.start();
        // Now and then it does not even live to answer.
        if (kill % 4 === 1) await pause(random() * 500);
        else await answering;
      }
      for (const host of hosts) {
        await host.end('SIGKILL');
        await host.start().answering;
      }
      return KILLS + hosts.length;
    },
  },
  {
    name: 'SIGSTOP past a lease',
    fits: ({ hosts }) => hosts.length > 1,
    strike: async ({ hosts, database, random }) => {
      const host = drawn(random, hosts);
      host.signal('SIGSTOP');
      // Where that can be seen, within a transaction that the others wait for.
      for (let time = 0; time < MOST_STOPS && database.standsStill; time++) {
        await pause(60);
        if (await database.standsStill()) break;
        host.signal('SIGCONT');
        await pause(random() * 60);
        host.signal('SIGSTOP');
      }
      await pause(PAST_A_LEASE_MS);
      host.signal('SIGCONT');
      return 1;
    },
  },
  {
    name: 'connections cut',
    fits: ({ database }) => database.cut !== undefined,
    strike: async ({ database, random }) => {
      let cut = 0;
      for (let time = 0; time < CUTS; time++) {
        await pause(50 + random() * 100);
        cut += (await database.cut?.()) ?? 0;
      }
      return cut;
    },
  },
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
  ...(['fast', 'immediate'] as const).map(
    (mode): Fault => ({
      name: mode === 'fast' ? 'server restarted' : 'server stopped at once',
      fits: ({ database }) => database.server !== undefined,
      strike: async ({ database }) => {
        for (let time = 0; time < byForm(1, 4); time++) {
          await database.server?.stop(mode);
          await pause(500);
          await database.server?.start();
        }
        return byForm(1, 4);
      },
    }),
  ),
  {
    // RLIMIT_FSIZE needs no privileges, and is met where a full disk is: by any write that makes a file longer, within a
    // transaction, a commit or a checkpoint. SQLite calls it an I/O error, and a file system without room SQLITE_FULL.
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
  },
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

function limitFiles(pid: number, soft: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${soft}`]);
}
