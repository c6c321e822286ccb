import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listens } from '../common/listens.js';
import { hasPeer, program } from '../transports/carriers/installed.js';
import { onFreePorts } from '../transports/carriers/loopback.js';
import { peerFolder, removeFolder } from '../transports/carriers/peer-folder.js';
import { PeerProcess } from '../transports/carriers/peer-process.js';

/** Whether PgBouncer is available here. */
export const hasPgBouncer = (): boolean => hasPeer('PgBouncer', 'pgbouncer', ['pgbouncer', 'setpriv']);

/** PgBouncer in transaction mode in front of the local PostgreSQL, on an address and a free port of its own. */
export class PgBouncer {
  /** @param connections the most connections to the server for each database */
  static start(connections: number): Promise<PgBouncer> {
    return onFreePorts(1, async (host, [port = 0]) => {
      const folder = peerFolder('pgbouncer');
      // PgBouncer does not run as root, and must be able to read the folder.
      chmodSync(folder, 0o755);
      writeFileSync(join(folder, 'users'), '"postgres" ""\n');
      writeFileSync(
        join(folder, 'pgbouncer.ini'),
        `[databases]
* = host=127.0.0.1 port=5432
[pgbouncer]
listen_addr = ${host}
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
`,
      );
      const user = process.getuid?.() === 0 ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
      const args = [...user, '--pdeathsig', 'KILL', program('pgbouncer'), join(folder, 'pgbouncer.ini')];
      const bouncer = new PgBouncer(folder, host, port, new PeerProcess('setpriv', args, { folder }));
      try {
        await bouncer.process.ready(() => listens(port, host));
      } catch (error) {
        await bouncer.close();
        throw error;
      }
      return bouncer;
    });
  }

  private constructor(
    private readonly folder: string,
    private readonly host: string,
    private readonly port: number,
    private readonly process: PeerProcess,
  ) {}

  /** The URL of a database through it. */
  before(url: string): string {
    const database = new URL(url).pathname;
    return `postgres://postgres@${this.host}:${this.port}${database}`;
  }

  async close(): Promise<void> {
    await this.process.stop();
    removeFolder(this.folder);
  }
}
