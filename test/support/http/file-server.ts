import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PNG } from '../common/png.js';

/** A server on this machine from which files are fetched. */
export class FileServer {
  /** How often each path was requested. */
  readonly asked = new Map<string, number>();
  /** Connections that are open. */
  connections = 0;
  private readonly files = new Map<string, { readonly type: string; readonly bytes: Buffer }>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.connections++;
      socket.once('close', () => this.connections--);
    });
    server.on('request', (request, response) => {
      const path = request.url ?? '';
      this.asked.set(path, (this.asked.get(path) ?? 0) + 1);
      const file = this.files.get(path);
      // A file without bytes never comes.
      if (file && file.bytes.length === 0) return;
      if (file) response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
      else response.writeHead(404).end();
    });
  }

  /** With `/photo.png` on it. */
  static async open(): Promise<FileServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FileServer(server).put('/photo.png', 'image/png', PNG);
  }

  put(path: string, type: string, bytes: Buffer): this {
    this.files.set(path, { type, bytes });
    return this;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
