import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { until } from '../../common/until.js';

export interface GatewayRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The faults that a server can show. */
export type Trouble =
  /** Never answers. */
  | 'silent'
  /** Sends 200 and the beginning of a body, and then nothing. */
  | 'stuck'
  /** Cuts the connection as soon as the headers have arrived. */
  | 'reset_before_reading'
  | 'reset_after_reading'
  /** 200 with half a JSON document. */
  | 'malformed'
  /** Promises more than it sends, and closes. */
  | 'lying_length'
  /** The right answer, followed by a megabyte of meaningless bytes. */
  | 'huge'
  /** Redirects. */
  | 'redirect'
  /** Answers properly, but not before `release()`. */
  | 'held';

/** A loopback HTTP server that answers as scripted, and records the requests. */
export class GatewayServer {
  readonly requests: GatewayRequest[] = [];
  connections = 0;
  private readonly script: (Trouble | GatewayAnswer)[] = [];
  private readonly held = new Set<() => void>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
    private readonly answer: (request: GatewayRequest) => GatewayAnswer | Trouble,
    private readonly unscripted: string | undefined,
  ) {}

  /**
   * @param answer its answer if nothing else is scripted
   * @param unscripted a path that no script affects
   */
  static async open(
    answer: (request: GatewayRequest) => GatewayAnswer | Trouble,
    { tls, unscripted }: { readonly tls?: ServerOptions; readonly unscripted?: string } = {},
  ): Promise<GatewayServer> {
    const server = tls ? createTlsServer(tls) : createServer();
    const gateway = new GatewayServer(server, tls ? 'https' : 'http', answer, unscripted);
    server.on('request', (request, response) => void gateway.serve(request, response));
    server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      gateway.connections++;
      gateway.sockets.add(socket.on('close', () => gateway.sockets.delete(socket)).on('error', () => undefined));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return gateway;
  }

  get url(): string {
    const address = this.server.address() as AddressInfo;
    return `${this.scheme}://127.0.0.1:${address.port}`;
  }

  /** Scripts for the next requests, one each. */
  next(...fates: readonly (Trouble | GatewayAnswer)[]): void {
    this.script.push(...fates);
  }

  /** Resolves when `count` requests have arrived. */
  async arrived(count: number): Promise<void> {
    await until(
      () => this.requests.length,
      (seen) => seen >= count,
    );
  }

  release(): void {
    for (const answer of this.held) answer();
    this.held.clear();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const scripted = incoming.url === this.unscripted ? undefined : this.script.shift();
    if (scripted === 'reset_before_reading') {
      this.requests.push(requestOf(incoming, ''));
      incoming.socket.resetAndDestroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = requestOf(incoming, Buffer.concat(chunks).toString('utf8'));
    this.requests.push(request);
    const said = this.answer(request);
    const answer = typeof said === 'object' ? said : { status: 500 };
    const fate = scripted ?? said;
    if (fate === 'held') await new Promise<void>((resolve) => this.held.add(resolve));
    if (typeof fate === 'object') reply(response, fate);
    else if (fate === 'held') reply(response, answer);
    else misbehave(fate, incoming.socket, response, answer);
  }
}

function requestOf({ method = '', url = '', headers }: IncomingMessage, body: string): GatewayRequest {
  const single = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return { method, path: url, headers: Object.fromEntries(single), body };
}

function reply(response: ServerResponse, { status, headers = {}, body = '' }: GatewayAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function misbehave(
  trouble: Exclude<Trouble, 'held'>,
  socket: Socket,
  response: ServerResponse,
  { body = '' }: GatewayAnswer,
): void {
  switch (trouble) {
    case 'silent':
      return;
    case 'stuck':
      response.writeHead(200, { 'content-type': 'application/json' }).write(body.slice(0, 10));
      return;
    case 'reset_before_reading':
    case 'reset_after_reading':
      socket.resetAndDestroy();
      return;
    case 'malformed':
      reply(response, { status: 200, body: body.slice(0, body.length / 2) });
      return;
    case 'lying_length':
      // Written by hand, because Node would not let a server send a wrong length.
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length + 10}\r\n\r\n${body}`,
      );
      return;
    case 'huge':
      reply(response, { status: 200, body: body.padEnd(1_000_000) });
      return;
    case 'redirect':
      reply(response, { status: 307, headers: { location: '/elsewhere' } });
  }
}
