import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A loopback server that passes GET requests on to a service that starts later, and keeps their paths. */
export class Forwarder {
  /** Paths with their queries, in the order of arrival. */
  readonly calls: string[] = [];
  /** The URL of the service; before it is set, every request gets 503. */
  target: string | undefined;
  private readonly server: Server;

  static async listen(): Promise<Forwarder> {
    const forwarder = new Forwarder();
    forwarder.server.listen(0, '127.0.0.1');
    await once(forwarder.server, 'listening');
    return forwarder;
  }

  private constructor() {
    this.server = createServer((request, response) => {
      const path = request.url ?? '/';
      this.calls.push(path);
      void this.pass(path).then((status) => response.writeHead(status).end());
    });
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async pass(path: string): Promise<number> {
    if (this.target === undefined) return 503;
    try {
      return (await fetch(`${this.target}${path}`)).status;
    } catch {
      return 502;
    }
  }
}
