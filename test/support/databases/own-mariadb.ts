import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { listens } from '../common/listens.js';
import { hasPeer, program } from '../transports/carriers/installed.js';
import { onFreePorts } from '../transports/carriers/loopback.js';
import { peerFolder, removeFolder } from '../transports/carriers/peer-folder.js';
import { PeerProcess } from '../transports/carriers/peer-process.js';

/** Whether MariaDB's programs are installed here. */
export const hasMariadb = (): boolean =>
  hasPeer('MariaDB', 'mariadb-server', ['mariadbd', 'mariadb-install-db', 'setpriv']);

/** A MariaDB server of the test's own, on an address and a free port of its own, with an empty database `messaging`. */
export class OwnMariadb {
  /** @param settings options of the server, for example `--autocommit=0` */
  static start(settings: readonly string[] = []): Promise<OwnMariadb> {
    return onFreePorts(1, async (host, [port = 0]) => {
      const folder = peerFolder('mariadb');
      const data = join(folder, 'data');
      mkdirSync(data);
      const own = ['--no-defaults', `--datadir=${data}`, '--user=root'];
      execFileSync(program('mariadb-install-db'), [...own, '--auth-root-authentication-method=normal'], {
        stdio: 'ignore',
      });
      const small = ['--innodb-buffer-pool-size=32M', '--innodb-flush-log-at-trx-commit=0', '--skip-name-resolve'];
      const at = [`--bind-address=${host}`, `--port=${port}`, `--socket=${join(folder, 'socket')}`];
      const server = new PeerProcess(program('mariadbd'), [...own, ...small, ...at, ...settings], { folder });
      const started = new OwnMariadb(folder, host, port, server);
      try {
        await server.ready(() => listens(port, host));
        // A user without SUPER, because init_connect and read_only apply only to such users.
        await started.execute(
          "CREATE USER app@'%'",
          'CREATE DATABASE messaging',
          "GRANT ALL ON messaging.* TO app@'%'",
        );
      } catch (error) {
        await started.close();
        throw error;
      }
      return started;
    });
  }

  private constructor(
    private readonly folder: string,
    private readonly host: string,
    private readonly port: number,
    private readonly server: PeerProcess,
  ) {}

  /** The password of a user who owns the database and has no other rights. */
  get url(): string {
    return `mysql://app@${this.host}:${this.port}/messaging`;
  }

  /** Runs statements as the server's administrator. */
  async execute(...statements: readonly string[]): Promise<void> {
    for (const sql of statements) await this.query(sql);
  }

  /** The ids of the connections of `app`. */
  async connections(): Promise<readonly number[]> {
    const rows = await this.query("SELECT id FROM information_schema.processlist WHERE user = 'app'");
    return rows.map(({ id }) => Number(id));
  }

  /** Sets a global variable to an SQL expression, and answers its former value as one. */
  async setGlobal(name: string, value: string): Promise<string> {
    const [row] = await this.query(`SELECT CAST(@@GLOBAL.${name} AS CHAR) AS former`);
    await this.execute(`SET GLOBAL ${name} = ${value}`);
    const former = String(row?.former ?? '');
    return /^[\d.]+$/.test(former) ? former : `'${former}'`;
  }

  private async query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const connection = await createConnection(`mysql://root@${this.host}:${this.port}`);
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    await connection.end();
    return rows;
  }

  async close(): Promise<void> {
    await this.server.stop();
    removeFolder(this.folder);
  }
}
