import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { listens } from '../support/common/listens.js';
import { until } from '../support/common/until.js';
import { hasPeer, program } from '../support/transports/carriers/installed.js';
import { onFreePorts } from '../support/transports/carriers/loopback.js';
import { peerFolder, removeFolder } from '../support/transports/carriers/peer-folder.js';
import { PeerProcess } from '../support/transports/carriers/peer-process.js';
import { OwnPostgres, queryAt } from './own-postgres.js';

export const hasFailover = (): boolean => hasPeer('PostgreSQL failover', 'haproxy', ['haproxy', 'setpriv']);

/** One of the two, with the check by which HAProxy asks whether it is the primary, as it asks Patroni. */
class Member {
  isLeader = false;

  private constructor(
    readonly server: OwnPostgres,
    private readonly check: Server,
  ) {}

  static async of(server: OwnPostgres): Promise<Member> {
    const check = createServer((_, response) => response.writeHead(member.isLeader ? 200 : 503).end());
    const member = new Member(server, check.listen(0, '127.0.0.1'));
    await once(check, 'listening');
    return member;
  }

  get checkPort(): number {
    return (this.check.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.check.closeAllConnections();
    this.check.close();
    await this.server.close();
  }
}

/** A primary and a synchronous standby behind HAProxy, all belonging to the test. */
export class FailoverPair {
  /** Undefined if PostgreSQL's programs are not installed. */
  static async start(): Promise<FailoverPair | undefined> {
    const primary = await OwnPostgres.start();
    if (!primary) return undefined;
    await primary.execute('CREATE DATABASE torture');
    const standby = await OwnPostgres.follow(primary);
    const members = [await Member.of(primary), await Member.of(standby)] as const;
    return onFreePorts(2, async (host, ports) => {
      const pair = new FailoverPair(members, host, ports);
      await pair.proxy.ready(() => listens(ports[0] ?? 0, host));
      await pair.wait(true);
      await until(() => pair.leads().catch(() => false));
      return pair;
    });
  }

  private readonly folder = peerFolder('haproxy');
  private readonly proxy: PeerProcess;

  private constructor(
    private members: readonly [leader: Member, standby: Member],
    private readonly host: string,
    private readonly ports: readonly number[],
  ) {
    this.leader.isLeader = true;
    const file = join(this.folder, 'haproxy.cfg');
    const ways = [this.way('cutting', 0, 'on-marked-down shutdown-sessions'), this.way('keeping', 1, '')];
    writeFileSync(file, [...SETTINGS, ...ways.flat(), ''].join('\n'));
    this.proxy = new PeerProcess(program('haproxy'), ['-db', '-f', file], { folder: this.folder });
  }

  /** HAProxy closes the connections to a server that it marks as down. */
  get cuttingUrl(): string {
    return this.url(0);
  }

  /** HAProxy leaves those connections open. */
  get keepingUrl(): string {
    return this.url(1);
  }

  get primary(): OwnPostgres {
    return this.leader.server;
  }

  get standby(): OwnPostgres {
    return this.members[1].server;
  }

  /** The checks find no primary any more, until there is another one. */
  loseLeader(): void {
    this.leader.isLeader = false;
  }

  /** The standby becomes the primary. It waits for no other standby until there is one. */
  async promote(): Promise<void> {
    const [former, next] = this.members;
    former.isLeader = false;
    await next.server.set('synchronous_standby_names', '');
    await next.server.execute('SELECT pg_promote()');
    next.isLeader = true;
    this.members = [next, former];
  }

  /** The former primary becomes the standby, as a new copy of the primary, which waits for it. */
  async rejoin(): Promise<void> {
    await this.standby.kill();
    await this.standby.copy(this.primary);
    await this.wait(true);
  }

  /** Makes each COMMIT wait for the standby or not. Resolves when that is in effect. */
  async wait(isSynchronous: boolean): Promise<void> {
    await this.primary.set('synchronous_standby_names', isSynchronous ? '*' : '');
    const state = isSynchronous ? 'sync' : 'async';
    const look = () => this.primary.execute('SELECT sync_state FROM pg_stat_replication');
    await until(look, ([row]) => row?.sync_state === state);
  }

  async close(): Promise<void> {
    await this.proxy.stop();
    removeFolder(this.folder);
    for (const member of this.members) await member.close();
  }

  /** HAProxy treats each server as good until its checks have failed, and uses them in turn. */
  private async leads(): Promise<boolean> {
    for (const url of [this.cuttingUrl, this.cuttingUrl, this.keepingUrl, this.keepingUrl]) {
      const [row] = await queryAt(url, 'SELECT pg_is_in_recovery() AS follows');
      if (row?.follows !== false) return false;
    }
    return true;
  }

  private get leader(): Member {
    return this.members[0];
  }

  private way(name: string, index: number, further: string): string[] {
    const servers = this.members.map(
      ({ server, checkPort }, member) =>
        `  server m${member} 127.0.0.1:${server.port} check addr 127.0.0.1 port ${checkPort} ${further}`,
    );
    return [`listen ${name}`, `  bind ${this.host}:${this.ports[index]}`, ...servers];
  }

  private url(index: number): string {
    return `postgres://postgres@${this.host}:${this.ports[index]}/torture`;
  }
}

const SETTINGS = [
  'global',
  '  maxconn 500',
  'defaults',
  '  mode tcp',
  '  option httpchk GET /primary',
  '  default-server inter 500ms fall 2 rise 1',
  '  timeout connect 2s',
  '  timeout client 1h',
  '  timeout server 1h',
];
