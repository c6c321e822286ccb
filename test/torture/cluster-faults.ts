import { setTimeout as pause } from 'node:timers/promises';
import type { FailoverPair } from './failover-pair.js';
import type { Fault, UnderFire } from './faults.js';
import { byForm, drawn, note } from './form.js';
import type { GaleraNode, OwnGalera } from './own-galera.js';

/** Longer than the 5 s after which the other nodes go on without one. */
const OUTAGE_MS = byForm(8000, 20_000);
/** How long a primary is missed before the standby takes over. */
const MISSED_MS = byForm(2000, 6000);
/** How long a standby is away. In the full form, longer than a statement may take (25 s). */
const ALONE_MS = byForm(6000, 40_000);

/** Resolves when each host has accepted a send again. Prints how often that was tried. */
async function recovered({ hosts, load }: UnderFire, fault: string): Promise<void> {
  const begun = Date.now();
  const seen = await Promise.all(
    hosts.map(async (host) => `${await load.through(host)} (${((Date.now() - begun) / 1000).toFixed(1)} s)`),
  );
  const columns = seen.map((polls, index) => [`host ${index + 1}`, polls]);
  note('Polls until each host accepts again', { fault, ...Object.fromEntries(columns) });
}

/** @param strike gets the nodes in an order of its own */
function onCluster(
  name: string,
  strike: (nodes: readonly [GaleraNode, GaleraNode, GaleraNode], ground: UnderFire) => Promise<void>,
): Fault {
  return {
    name,
    fits: ({ database }) => database.cluster !== undefined,
    strike: async (ground) => {
      const { cluster } = ground.database;
      if (!cluster) throw new Error('There is a cluster.');
      await strike(turned(cluster, ground.random), ground);
      for (const node of cluster.nodes) await node.synced();
      await recovered(ground, name);
      return 1;
    },
  };
}

function turned({ nodes }: OwnGalera, random: () => number): readonly [GaleraNode, GaleraNode, GaleraNode] {
  const [first, second, third] = nodes;
  if (!first || !second || !third) throw new Error('There are three nodes.');
  return drawn(random, [
    [first, second, third],
    [second, third, first],
    [third, first, second],
  ]);
}

export const GALERA_FAULTS: readonly Fault[] = [
  onCluster('a node killed', async ([node]) => {
    await node.kill();
    await pause(OUTAGE_MS);
    await node.start();
  }),
  onCluster('a node frozen', async ([node]) => {
    node.signal('SIGSTOP');
    await pause(OUTAGE_MS);
    node.signal('SIGCONT');
  }),
  onCluster('a node isolated', async ([node]) => {
    await node.query("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'");
    await pause(OUTAGE_MS);
    await node.query("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'");
  }),
  onCluster('a node read-only', async ([node]) => {
    await node.query('SET GLOBAL read_only = 1');
    await pause(OUTAGE_MS);
    await node.query('SET GLOBAL read_only = 0');
  }),
  onCluster('quorum lost', async ([, ...others]) => {
    await Promise.all(others.map((node) => node.kill()));
    await pause(OUTAGE_MS);
    await Promise.all(others.map((node) => node.start()));
  }),
  onCluster('a node replaced', async ([node]) => {
    await node.stop(true);
    await node.start();
  }),
];

/** @param strike may end with another primary */
function onPair(name: string, strike: (pair: FailoverPair, ground: UnderFire) => Promise<void>): Fault {
  return {
    name,
    fits: ({ database }) => database.pair !== undefined,
    strike: async (ground) => {
      const { pair } = ground.database;
      if (!pair) throw new Error('There is a pair.');
      await strike(pair, ground);
      await recovered(ground, name);
      await pair.rejoin();
      await recovered(ground, `${name}, and the standby is back`);
      return 1;
    },
  };
}

export const FAILOVER_FAULTS: readonly Fault[] = [
  onPair('primary killed', async (pair) => {
    pair.loseLeader();
    await pair.primary.kill();
    await pause(MISSED_MS);
    await pair.promote();
  }),
  onPair('primary frozen', async (pair) => {
    pair.loseLeader();
    pair.primary.freeze();
    await pause(MISSED_MS);
    await pair.promote();
  }),
  onPair('primary isolated', async (pair) => {
    await pair.primary.isolate();
    await pause(ALONE_MS);
    await pair.promote();
  }),
  onPair('primary read-only', async (pair) => {
    await pair.primary.set('default_transaction_read_only', 'on');
    await pause(MISSED_MS);
    await pair.promote();
  }),
  onPair('switched over', async (pair) => {
    await pair.primary.stop('fast');
    await pair.promote();
  }),
  onPair('no standby to wait for', async (pair) => {
    await pair.standby.kill();
    await pause(ALONE_MS);
    await pair.standby.start();
  }),
];

/** Not among the faults that must be survived: the standby does not get the last answers of the primary. */
export const LOST_TAIL: Fault = onPair('primary killed, standby behind', async (pair) => {
  await pair.primary.isolate();
  await pause(byForm(2000, 8000));
  pair.loseLeader();
  await pair.primary.kill();
  await pair.promote();
});
