import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What the server does when a whole request has arrived. */
export type ByteHandler = (socket: Socket, request: string, place: { readonly inAll: number }) => void;

/** A loopback server that keeps connections open and answers each request with bytes, well-formed or not. */
export class ByteServer {
  readonly requests: string[] = [];
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly handle: ByteHandler,
  ) {}

  static async open(handle: ByteHandler): Promise<ByteServer> {
    const server = createServer((socket) => bytes.accept(socket));
    const bytes = new ByteServer(server, handle);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return bytes;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections that are still open. */
  get open(): number {
    return this.sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    let held = '';
    socket.on('data', (chunk: Buffer) => {
      held += chunk.toString('latin1');
      const head = held.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(held)?.[1] ?? 0);
      if (head < 0 || held.length < head + 4 + length) return;
      this.requests.push(held);
      const request = held;
      held = '';
      this.handle(socket, request, { inAll: this.requests.length });
    });
  }
}
