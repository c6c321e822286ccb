import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A request whose headers are complete. */
export interface RawRequest {
  /** The request line. */
  readonly line: string;
  /** Header fields by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: Socket;
}

/** Answers by writing bytes, well-formed or not. */
export type RawHandler = (request: RawRequest) => void;

/** A server on a port of 127.0.0.1 that speaks only as much HTTP as a test makes it speak. */
export class RawServer {
  /** Connections that arrived. */
  connections = 0;
  readonly requests: RawRequest[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly handle: RawHandler,
  ) {}

  static async open(handle: RawHandler, tls?: TlsOptions): Promise<RawServer> {
    const accept = (socket: Socket) => raw.accept(socket);
    const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
    const raw = new RawServer(server, handle);
    // TLS: a client that leaves during the handshake is not a fault of the test.
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return raw;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Connections that are still open. */
  get open(): number {
    return this.sockets.size;
  }

  /** Writes to every connection, whether it has a request or not. */
  say(bytes: string): void {
    for (const socket of this.sockets) socket.write(bytes);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    let text = '';
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', read).resume();
      const [line = '', ...fields] = text.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        fields.map((field) => [field.split(':', 1)[0]?.toLowerCase(), field.replace(/^[^:]*: */, '')]),
      );
      const request = { line, headers, socket };
      this.requests.push(request);
      this.handle(request);
    };
    socket.on('data', read);
  }
}

/** An answer in bytes. Its length is stated unless the headers already do so. */
export function answer(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer = ''): Buffer {
  const stated = /content-length|transfer-encoding/i.test(Object.keys(headers).join());
  const all = stated ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${fields.join('')}\r\n`, 'latin1'), Buffer.from(body)]);
}
