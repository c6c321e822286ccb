import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';

/** A request as a handler of the fake API gets it. */
export interface FakeRequest {
  readonly method: string;
  /** Below the API's root, without slashes at its ends. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: what a browser sent
  readonly body: any;
}

/** An answer other than 200 with JSON. */
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

/** Handlers by `METHOD path`, where `*` in the path is any segment; the first that fits answers. */
export type FakeRoutes = Readonly<Record<string, Handler | object>>;

/** Where the API is below the server, and where everything else is passed on to. */
export interface FakePlace {
  /** With slashes at both ends. Default `/api/v1/`. */
  readonly root?: string;
  /** The application that has the page; and how the proxy rewrites paths for it. */
  readonly app: string;
  readonly rewrite?: (path: string) => string;
}

/** A server that answers as the API, and is a proxy before the application that has the page. */
export class FakeApi {
  /** Handlers by `METHOD path`. A test replaces what it wants. */
  routes: Record<string, Handler | object>;
  /** While true, no request is answered: connections are cut. */
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
    // The browser may use a connection again just when it would be closed.
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

/** A connection of its own each time: a kept one may be closed by the other side just when it is used again. */
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
