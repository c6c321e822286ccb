import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A line to a service that breaks at every fifth request, after the service has read it. */
export class CuttingProxy {
  private readonly server: Server = createServer((client) => this.join(client));
  private readonly sockets = new Set<Socket>();
  private requests = 0;
  /** How many connections were cut. */
  cuts = 0;

  private constructor(private readonly target: number) {}

  static async listen(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    const service = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const cut = () => {
      this.cuts++;
      // The service processes what it has read.
      client.destroy();
    };
    const requests = new RequestEnds();
    let loseAnswer = false;
    client.on('data', (chunk) => {
      const whole = requests.count(chunk) > 0;
      const turn = whole ? ++this.requests : 0;
      loseAnswer ||= turn % 10 === 5;
      service.write(chunk, () => {
        // Before the service has answered.
        if (whole && turn % 10 === 0) cut();
      });
    });
    service.on('data', (chunk) => {
      if (loseAnswer && !client.destroyed) cut();
      else client.write(chunk);
    });
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => {});
      from.once('close', () => {
        this.sockets.delete(from);
        to.destroySoon();
      });
    }
  }
}

/** Finds where requests end, by their Content-Length. */
class RequestEnds {
  private rest = Buffer.alloc(0);

  /** How many requests are complete with these bytes. */
  count(chunk: Buffer): number {
    this.rest = Buffer.concat([this.rest, chunk]);
    for (let ends = 0; ; ends++) {
      const head = this.rest.indexOf('\r\n\r\n');
      if (head === -1) return ends;
      const [, length = '0'] = /content-length: (\d+)/i.exec(this.rest.toString('latin1', 0, head)) ?? [];
      const end = head + 4 + Number(length);
      if (this.rest.length < end) return ends;
      this.rest = this.rest.subarray(end);
    }
  }
}
