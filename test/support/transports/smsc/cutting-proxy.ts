import { connect, type Socket } from 'node:net';
import { RawPeer } from './raw-peer.js';

type Direction = 'toSmsc' | 'toClient';

export interface Cut {
  readonly direction: Direction;
  /** The connection breaks after this many octets in this direction. */
  readonly after: number;
}

/** A proxy to an SMSC that breaks the connection at one octet, or passes on octet by octet. */
export class CuttingProxy {
  readonly passed: Record<Direction, number> = { toSmsc: 0, toClient: 0 };

  static async listen(target: number, cut?: Cut, dripping = false): Promise<CuttingProxy> {
    const proxy: CuttingProxy = new CuttingProxy(
      await RawPeer.listen((client) => proxy.join(client, target)),
      cut,
      dripping,
    );
    return proxy;
  }

  private constructor(
    private readonly peer: RawPeer,
    private readonly cut: Cut | undefined,
    private readonly dripping: boolean,
  ) {}

  get port(): number {
    return this.peer.port;
  }

  close(): Promise<void> {
    return this.peer.close();
  }

  private join(client: Socket, target: number): void {
    const smsc = connect({ port: target, host: '127.0.0.1', noDelay: true });
    smsc.on('error', () => {});
    client.setNoDelay(true);
    this.pass('toSmsc', client, smsc);
    this.pass('toClient', smsc, client);
  }

  private pass(direction: Direction, from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      const capacity = this.cut?.direction === direction ? this.cut.after - this.passed[direction] : chunk.length;
      const kept = chunk.subarray(0, Math.max(capacity, 0));
      this.passed[direction] += kept.length;
      if (this.dripping) for (const octet of kept) to.write(Buffer.of(octet));
      else to.write(kept);
      if (kept.length === chunk.length && capacity !== kept.length) return;
      if (this.cut?.direction !== direction) return;
      to.end(() => to.destroy());
      from.destroy();
    });
    from.on('close', () => to.destroySoon());
  }
}
