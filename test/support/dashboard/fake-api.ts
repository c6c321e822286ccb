import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';

/** The request that a handler of the fake API gets. */
export interface FakeRequest {
  readonly method: string;
  /** The path below the API's root, without slashes at either end. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the parsed JSON of a browser
  readonly body: any;
}

/** An answer that is not a 200 with JSON. */
export class FakeAnswer {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** An error in the shape of the API. */
export function refusal(status: number, code: string, message = code): FakeAnswer {
  return new FakeAnswer(status, { statusCode: status, message, error: 'Error' }, { 'X-Error-Code': code });
}

type Handler = (request: FakeRequest) => unknown;

/** Handlers by `METHOD path`. A `*` in the path stands for any segment. The first handler that matches answers. */
export type FakeRoutes = Readonly<Record<string, Handler | object>>;

/** The path of the API, and the application that gets all other requests. */
export interface FakePlace {
  /** With slashes at both ends. Default `/api/v1/`. */
  readonly root?: string;
  /** The URL of the application that serves the page. */
  readonly app: string;
  readonly rewrite?: (path: string) => string;
}

/** A server that acts as the API, and as a proxy in front of the application that serves the page. */
export class FakeApi {
  /** Handlers by `METHOD path`. A test may replace them. */
  routes: Record<string, Handler | object>;
  /** While this is true, every connection is cut without an answer. */
  away = false;
  /** The paths of the requests that were cut. */
  readonly cut: string[] = [];
  readonly requests: FakeRequest[] = [];
  private readonly server: Server;

  constructor(
    routes: FakeRoutes,
    private readonly place: FakePlace,
  ) {
    this.routes = { ...routes };
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
    // Otherwise the browser may reuse a connection at the moment when it is closed.
    this.server.keepAliveTimeout = 0;
  }

  /** Its URL, without a slash at its end. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const { root = '/api/v1/', app, rewrite = (path) => path } = this.place;
    if (this.away) {
      this.cut.push(pathname);
      request.socket.destroy();
      return;
    }
    if (!pathname.startsWith(root)) return pass(`${app}${rewrite(pathname)}${search}`, request, response);
    const method = request.method ?? 'GET';
    const path = pathname.slice(root.length).replace(/\/$/, '');
    const sent = await text(request);
    const seen = { method, path, query: searchParams, headers: request.headers, body: sent && JSON.parse(sent) };
    this.requests.push(seen);
    const handler = Object.entries(this.routes).find(([name]) => fits(name, `${method} ${path}`))?.[1];
    const made: unknown = typeof handler === 'function' ? await handler(seen) : handler;
    if (made === undefined) return reply(response, refusal(404, 'not_found', `${method} ${path}`));
    return reply(response, made instanceof FakeAnswer ? made : new FakeAnswer(200, made));
  }
}

function fits(name: string, asked: string): boolean {
  const pattern = name.split('*').map((part) => part.replace(/[.+?^$()|[\]\\{}]/g, '\\$&'));
  return new RegExp(`^${pattern.join('[^/]+')}$`).test(asked);
}

function reply(response: ServerResponse, { status, body, headers }: FakeAnswer): void {
  const text = typeof body === 'string';
  response.writeHead(status, { 'Content-Type': text ? 'text/csv' : 'application/json', ...headers });
  response.end(text ? body : JSON.stringify(body));
}

/** Passes a request on, each on a new connection: a kept one may be closed by the other side when it is reused. */
function pass(url: string, { method, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const own = { 'Accept-Encoding': 'identity', 'If-None-Match': String(headers['if-none-match'] ?? '') };
  return new Promise((done, fail) => {
    const passed = httpRequest(url, { method, headers: own, agent: false }, (answer) => {
      const { connection, ...rest } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, rest);
      answer.on('error', fail).pipe(response).on('close', done);
    });
    passed.on('error', fail).end();
  });
}
