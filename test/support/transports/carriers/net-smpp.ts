import { connect } from 'node:net';
import { join } from 'node:path';
import { until } from '../../common/until.js';
import { encodePdu } from '../smsc/encode-pdu.js';
import { hasPeer, program } from './installed.js';
import { peerFolder, removeFolder } from './peer-folder.js';
import { PeerProcess } from './peer-process.js';

const SCRIPT = join(import.meta.dirname, 'net-smpp-smsc.pl');

/** How it behaves. See the script. */
export interface NetSmppScript {
  readonly throttleEvery?: number;
  readonly dropEvery?: number;
  readonly garbageEvery?: number;
  readonly enquireEvery?: number;
  readonly silentFrom?: number;
  readonly answerIds?: 'decimal' | 'hex';
  readonly receipts?: 'both' | 'text' | 'tlv' | 'data_sm' | 'none';
  readonly receiptFirst?: boolean;
}

/** A submit as Net::SMPP read it, with octets in hexadecimal. */
export type NetSmppPdu = Readonly<Record<string, string | number>>;

/** One thing that happened there. */
type NetSmppEvent =
  | { readonly event: 'listening'; readonly port: number }
  | { readonly event: 'bind'; readonly status: number; readonly system_id: string; readonly version: number }
  | {
      readonly event: 'submit';
      readonly verdict: 'taken' | 'throttled' | 'dropped' | 'garbage' | 'silent';
      readonly pdu: NetSmppPdu;
    }
  | { readonly event: 'receipt'; readonly status: number; readonly number: string }
  | { readonly event: 'asked'; readonly seq: number }
  | { readonly event: 'other'; readonly cmd: number; readonly status: number }
  | { readonly event: 'alive' | 'unbind' | 'closed' };

/** Whether Net::SMPP is installed here. */
export const hasNetSmpp = (): boolean =>
  hasPeer('Net::SMPP', 'libnet-smpp-perl', ['perl', 'setpriv', '/usr/share/perl5/Net/SMPP.pm']);

/** A scripted SMSC in Perl. */
export class NetSmpp {
  port = 0;
  /** Sequence numbers that no connection reaches. */
  private questions = 0x70000000;
  private readonly events: NetSmppEvent[] = [];

  static async start(script: NetSmppScript = {}): Promise<NetSmpp> {
    const folder = peerFolder('net-smpp');
    const smsc: NetSmpp = new NetSmpp(
      folder,
      new PeerProcess(program('perl'), [SCRIPT, JSON.stringify(script)], { folder }, (line) => smsc.hear(line)),
    );
    try {
      await smsc.peer.ready(() => smsc.port !== 0);
    } catch (error) {
      await smsc.close();
      throw error;
    }
    return smsc;
  }

  private constructor(
    private readonly folder: string,
    private readonly peer: PeerProcess,
  ) {}

  /** All of one kind, the oldest first. */
  all<K extends NetSmppEvent['event']>(kind: K): Extract<NetSmppEvent, { event: K }>[] {
    return this.events.filter((each): each is Extract<NetSmppEvent, { event: K }> => each.event === kind);
  }

  /** Resolves when this many things of one kind have happened. */
  async happened(kind: NetSmppEvent['event'], count: number): Promise<void> {
    await until(() => this.all(kind).length >= count);
  }

  /**
   * Resolves when everything that happened there until now is known here. Its reports come another way than its
   * answers, and may come later.
   */
  async caughtUp(): Promise<void> {
    const sequence = ++this.questions;
    const line = connect(this.port, '127.0.0.1').on('error', () => {});
    line.write(encodePdu({ command: 'enquire_link', status: 0, sequence }));
    await until(() => this.all('asked').some(({ seq }) => seq === sequence));
    line.destroy();
  }

  /** How often each number got a submit that was not throttled. */
  takenTimes(): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    for (const { verdict, pdu } of this.all('submit')) {
      const number = String(pdu.destination_addr);
      if (verdict !== 'throttled') times.set(number, (times.get(number) ?? 0) + 1);
    }
    return times;
  }

  /** How many submits had this result. */
  count(verdict: Extract<NetSmppEvent, { event: 'submit' }>['verdict']): number {
    return this.all('submit').filter((submit) => submit.verdict === verdict).length;
  }

  async close(): Promise<void> {
    await this.peer.stop();
    removeFolder(this.folder);
  }

  private hear(line: string): void {
    const event: NetSmppEvent = JSON.parse(line);
    if (event.event === 'listening') this.port = event.port;
    this.events.push(event);
  }
}
