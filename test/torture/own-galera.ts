import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { until } from '../support/common/until.js';
import { hasPeer, program } from '../support/transports/carriers/installed.js';
import { onFreePorts } from '../support/transports/carriers/loopback.js';
import { peerFolder, removeFolder } from '../support/transports/carriers/peer-folder.js';
import { PeerProcess } from '../support/transports/carriers/peer-process.js';

const NODES = 3;
/** The ports of SQL, of the group, and of the two ways in which a joining node gets what it lacks. */
const PORTS = 4;
const PROVIDER = '/usr/lib/galera/libgalera_smm.so';
/** The time that a node needs for a whole copy of another one, on a busy machine. */
const JOIN_MS = 180_000;

export const hasGalera = (): boolean =>
  hasPeer('Galera', 'mariadb-server galera-4 rsync', [
    'mariadbd',
    'mariadb-install-db',
    'setpriv',
    'rsync',
    'wsrep_sst_rsync',
    PROVIDER,
  ]);

interface NodePlace {
  readonly name: string;
  readonly host: string;
  readonly ports: readonly number[];
  readonly folder: string;
  /** `gcomm://` with the group ports of all nodes. */
  readonly group: string;
}

/** A node of the test's own cluster, which may be stopped in any manner. */
export class GaleraNode {
  private server: PeerProcess | undefined;

  constructor(private readonly place: NodePlace) {}

  /** A user who owns the database and has no other rights. */
  get url(): string {
    return `mysql://app@${this.place.host}:${this.port}/messaging`;
  }

  private get port(): number {
    return this.place.ports[0] ?? 0;
  }

  /** @param isFirst makes a new cluster; otherwise it joins the others, and resolves when it has all that they have */
  async start(isFirst = false): Promise<void> {
    const { name, host, ports, folder, group } = this.place;
    const [, groupPort, changesPort, copyPort] = ports;
    const provider = `gmcast.listen_addr=tcp://${host}:${groupPort};ist.recv_addr=${host}:${changesPort};gcache.size=32M`;
    const settings = [
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      '--skip-name-resolve',
      `--bind-address=${host}`,
      `--port=${this.port}`,
      `--socket=${join(folder, 'socket')}`,
      '--innodb-buffer-pool-size=32M',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-autoinc-lock-mode=2',
      '--binlog-format=ROW',
      '--wsrep-on=ON',
      `--wsrep-provider=${PROVIDER}`,
      `--wsrep-node-name=${name}`,
      `--wsrep-cluster-address=${group}`,
      `--wsrep-node-address=${host}:${groupPort}`,
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=${host}:${copyPort}`,
      `--wsrep-provider-options=${provider}`,
      ...(isFirst ? ['--wsrep-new-cluster'] : []),
    ];
    const server = new PeerProcess(...asMariadb(program('mariadbd'), settings), { folder });
    this.server = server;
    await server.ready(() => this.hasAll());
  }

  /** Resolves when it has all that the others have, and takes part again. */
  async synced(): Promise<void> {
    await until(() => this.hasAll(), Boolean, JOIN_MS);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.server?.signal(signal);
  }

  async kill(): Promise<void> {
    this.server?.signal('SIGKILL');
    await this.server?.stop();
  }

  /** Ends it as an operator does. @param forgets its files too, so that it needs a whole copy when it comes back */
  async stop(forgets = false): Promise<void> {
    await this.server?.stop();
    if (!forgets) return;
    rmSync(join(this.place.folder, 'data'), { recursive: true, force: true });
    makeData(this.place.folder);
  }

  async query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const connection = await createConnection(`mysql://root@${this.place.host}:${this.port}`);
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql);
      return rows;
    } finally {
      connection.destroy();
    }
  }

  private async hasAll(): Promise<boolean> {
    const rows = await this.query("SHOW STATUS LIKE 'wsrep_local_state_comment'").catch(() => []);
    return rows[0]?.Value === 'Synced';
  }
}

/** Three Galera nodes of MariaDB, with an empty database `messaging`. */
export class OwnGalera {
  static start(): Promise<OwnGalera> {
    return onFreePorts(NODES * PORTS, async (host, ports) => {
      const groups = Array.from({ length: NODES }, (_, node) => ports.slice(node * PORTS, (node + 1) * PORTS));
      const group = `gcomm://${groups.map(([, port]) => `${host}:${port}`).join()}`;
      const folders = groups.map(() => peerFolder('galera'));
      const nodes = groups.map((own, index) => {
        const folder = folders[index] ?? '';
        makeData(folder);
        return new GaleraNode({ name: `n${index + 1}`, host, ports: own, folder, group });
      });
      const cluster = new OwnGalera(nodes, folders);
      try {
        await cluster.begin(join(folders[0] ?? '', 'data'));
      } catch (error) {
        await cluster.close();
        throw error;
      }
      return cluster;
    });
  }

  private constructor(
    readonly nodes: readonly GaleraNode[],
    private readonly folders: readonly string[],
  ) {}

  /** Only the first node is installed. The others get their copies of it, one after the other. */
  private async begin(data: string): Promise<void> {
    const own = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal'];
    execFileSync(program('mariadb-install-db'), [...own, ...(isRoot() ? ['--user=root'] : [])], { stdio: 'ignore' });
    giveAway(data);
    const [first, ...others] = this.nodes;
    await first?.start(true);
    for (const node of others) await node.start();
    for (const sql of ["CREATE USER app@'%'", 'CREATE DATABASE messaging', "GRANT ALL ON messaging.* TO app@'%'"]) {
      await first?.query(sql);
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.kill();
    for (const folder of this.folders) removeFolder(folder);
  }
}

/** An empty folder for the files of a node, within one of its own. */
function makeData(folder: string): void {
  mkdirSync(join(folder, 'data'));
  giveAway(folder);
}

/** Gives the folder to the user that a node runs as. */
function giveAway(folder: string): void {
  if (isRoot()) execFileSync('chown', ['-R', 'mysql', folder]);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * As root, rsync would write the copies of `mysql`'s files as nobody, who may not write them. It dies with the test,
 * however that ends.
 */
function asMariadb(file: string, args: readonly string[]): [file: string, args: string[]] {
  if (!isRoot()) return [file, [...args]];
  return [
    program('setpriv'),
    ['--reuid=mysql', '--regid=mysql', '--clear-groups', '--pdeathsig', 'KILL', file, ...args],
  ];
}
