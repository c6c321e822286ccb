import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { listens } from '../../common/listens.js';
import { hasPeer, program } from './installed.js';
import { onFreePorts } from './loopback.js';
import { peerFolder, removeFolder } from './peer-folder.js';
import { PeerProcess } from './peer-process.js';

const SHIM = join(import.meta.dirname, 'osmo-msc-shim.c');

/** One SMS as OsmoMSC stores it for a phone that is away. */
export interface OsmoSms {
  /** As SQLite writes times, UTC. */
  readonly created: string;
  readonly valid_until: string;
  readonly data_coding_scheme: number;
  /** 1: the user data begins with a header. */
  readonly ud_hdr_ind: number;
  readonly src_addr: string;
  readonly src_ton: number;
  readonly src_npi: number;
  readonly dest_addr: string;
  readonly dest_ton: number;
  readonly dest_npi: number;
  readonly status_rep_req: number;
  /** TP-UD as the air would carry it. */
  readonly user_data: Buffer;
}

/** Whether OsmoMSC is installed here. */
export const hasOsmoMsc = (): boolean => hasPeer('OsmoMSC', 'osmo-msc gcc libc6-dev', ['osmo-msc', 'gcc', 'setpriv']);

/** OsmoMSC, a mobile switching centre with an SMPP 3.4 SMSC in it. It has an address and free ports of its own. */
export class OsmoMsc {
  /** @param accounts passwords by system_id */
  static start(accounts: Readonly<Record<string, string>>): Promise<OsmoMsc> {
    return onFreePorts(1, (host, [port = 0]) => OsmoMsc.startAt(host, port, accounts));
  }

  private static async startAt(
    host: string,
    port: number,
    accounts: Readonly<Record<string, string>>,
  ): Promise<OsmoMsc> {
    const folder = peerFolder('osmo-msc');
    execFileSync(program('gcc'), ['-shared', '-fPIC', '-o', join(folder, 'shim.so'), SHIM, '-ldl']);
    writeFileSync(join(folder, 'osmo-msc.cfg'), configuration(host, port, accounts));
    const peer = new PeerProcess(program('osmo-msc'), ['-c', 'osmo-msc.cfg'], {
      folder,
      env: { LD_PRELOAD: join(folder, 'shim.so'), KEPT_PORT: String(port) },
    });
    const osmo = new OsmoMsc(host, port, folder, peer);
    try {
      await peer.ready(() => listens(port, host));
      await peer.ready(() => existsSync(osmo.file));
    } catch (error) {
      await osmo.stop();
      throw error;
    }
    return osmo;
  }

  private constructor(
    readonly host: string,
    readonly port: number,
    private readonly folder: string,
    private readonly peer: PeerProcess,
  ) {}

  /** Everything that it stored for a number, in the order of arrival. */
  stored(number: string): OsmoSms[] {
    const database = new Database(this.file, { readonly: true });
    try {
      return database.prepare<[string], OsmoSms>('SELECT * FROM SMS WHERE dest_addr = ? ORDER BY id').all(number);
    } finally {
      database.close();
    }
  }

  /** Stops the process: it no longer reads or sends, but its kernel still accepts connections. */
  freeze(): void {
    this.peer.signal('SIGSTOP');
  }

  thaw(): void {
    this.peer.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.peer.stop();
    removeFolder(this.folder);
  }

  private get file(): string {
    return join(this.folder, 'sms.db');
  }
}

function configuration(host: string, port: number, accounts: Readonly<Record<string, string>>): string {
  return `
log stderr
 logging color 0
line vty
 no login
 bind ${host}
ctrl
 bind ${host}
network
 network country code 1
 mobile network code 1
msc
 mgw local-ip ${host}
 mgw remote-ip ${host}
hlr
 remote-ip ${host}
sgs
 local-ip ${host}
cs7 instance 0
 point-code 0.23.1
 asp to-stp 2905 0 m3ua
  local-ip ${host}
  remote-ip ${host}
smpp
 local-tcp-ip ${host} ${port}
 system-id test-msc
 policy closed
${Object.entries(accounts)
  .map(([systemId, password]) => ` esme ${systemId}\n  password ${password}\n`)
  .join('')}`;
}
