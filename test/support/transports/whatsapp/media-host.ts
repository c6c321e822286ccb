import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Faults } from './faults.js';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from './loopback-tls.js';
import { UPLOAD_TOKEN } from './queries.js';

/** Where clients upload and download encrypted files, over https. */
export class MediaHost {
  /** What was uploaded, by path. */
  readonly blobs = new Map<string, Buffer>();
  /** The requested paths, in order. */
  readonly downloads: string[] = [];
  private readonly server = createServer({ key: LOOPBACK_KEY, cert: LOOPBACK_CERTIFICATE }, (request, response) => {
    this.answer(request, response).catch(() => response.destroy());
  });

  constructor(private readonly faults: Faults) {}

  async start(): Promise<void> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
  }

  /** Host and port. */
  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', `https://${this.host}`);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    if (request.method === 'GET') {
      const blob = this.blobs.get(pathname);
      this.downloads.push(pathname);
      return void response.writeHead(blob ? 200 : 404).end(blob);
    }
    const { uploadStatus } = this.faults;
    const status = searchParams.get('auth') === UPLOAD_TOKEN ? uploadStatus : 401;
    response.writeHead(status, { 'content-type': 'application/json' });
    if (status !== 200) return void response.end('{"error":"refused"}');
    this.blobs.set(pathname, Buffer.concat(parts));
    response.end(JSON.stringify({ url: `https://${this.host}${pathname}`, direct_path: pathname }));
  }
}
