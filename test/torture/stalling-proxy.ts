import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A line between hosts and a database server that can stand still: connections stay open, and nothing passes. */
export class StallingProxy {
  private readonly sockets = new Set<Socket>();
  private stalled = false;
  private readonly server: Server = createServer((client) => this.join(client));

  private constructor(private readonly target: number) {}

  static async listen(target: number): Promise<StallingProxy> {
    const proxy = new StallingProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Its own ports at the server, by which the server knows which connections are the hosts'. */
  get portsAtServer(): readonly number[] {
    return [...this.sockets].flatMap(({ remotePort, localPort }) =>
      remotePort === this.target && localPort !== undefined ? [localPort] : [],
    );
  }

  stall(): void {
    this.stalled = true;
    for (const socket of this.sockets) socket.pause();
  }

  resume(): void {
    this.stalled = false;
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.once('close', () => {
        this.sockets.delete(from);
        to.destroySoon();
      });
      if (this.stalled) from.pause();
    }
  }
}
