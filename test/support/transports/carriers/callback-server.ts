import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** An HTTP server that keeps the URLs it is called with. */
export class CallbackServer {
  readonly calls: URL[] = [];
  private readonly server: Server;

  static async listen(): Promise<CallbackServer> {
    const callbacks = new CallbackServer();
    callbacks.server.listen(0, '127.0.0.1');
    await once(callbacks.server, 'listening');
    return callbacks;
  }

  private constructor() {
    this.server = createServer((request, response) => {
      this.calls.push(new URL(request.url ?? '', 'http://localhost'));
      response.end();
    });
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('It does not listen.');
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
