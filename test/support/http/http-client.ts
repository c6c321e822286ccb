import { connect, type Socket } from 'node:net';
import { request } from 'undici';
import { throughClient } from '../client/through-client.js';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, or its text if it is not JSON. */
  readonly body: unknown;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged if it is a string or bytes, otherwise as JSON with its content type. */
  readonly body?: unknown;
}

/**
 * One request. A body that is not a string or bytes is sent as JSON. Not `fetch`, which takes several times its
 * processor time.
 */
export async function call(url: string, asked: Call = {}): Promise<Reply> {
  const reply = process.env.API_CALLS === 'client' ? await throughClient(url, asked) : undefined;
  if (reply) return reply;
  const { method = 'GET', headers = {}, body } = asked;
  const ready = typeof body === 'string' || body instanceof Uint8Array ? body : undefined;
  const json = body === undefined || ready !== undefined ? undefined : JSON.stringify(body);
  const content = json ?? ready;
  const answer = await request(url, {
    method,
    headers: { ...contentType(json, content), ...headers },
    ...(content === undefined ? {} : { body: content }),
  });
  const text = await answer.body.text();
  const received = Object.entries(answer.headers).map(([name, value]): [string, string] => [
    name,
    [value].flat().join(', '),
  ]);
  return { status: answer.statusCode, headers: new Headers(received), body: parsed(text) };
}

/** The headers that `fetch` would send. */
function contentType(json: unknown, content: unknown): Readonly<Record<string, string>> {
  if (json !== undefined) return { 'content-type': 'application/json' };
  return typeof content === 'string' ? { 'content-type': 'text/plain;charset=UTF-8' } : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A connection on which a test writes HTTP by hand. */
export class RawConnection {
  #received = '';
  #closed = false;
  #failure: Error | undefined;
  #changed: () => void = () => {};

  private constructor(readonly socket: Socket) {
    const note = (): void => this.#changed();
    socket.setEncoding('utf8').on('data', (text: string) => {
      this.#received += text;
      note();
    });
    socket.on('error', (error) => {
      this.#failure = error;
      note();
    });
    socket.on('close', () => {
      this.#closed = true;
      note();
    });
  }

  /** @param allowHalfOpen true: it can still write after the other side has ended */
  static open(port: number, allowHalfOpen = false): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen }, () => resolve(new RawConnection(socket)));
      socket.once('error', reject);
    });
  }

  get received(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The error of the connection, for instance a reset. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Resolves when what has arrived meets the condition. Jest's own time limit is the deadline. */
  async until(arrived: (connection: RawConnection) => boolean): Promise<void> {
    while (!arrived(this)) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** The parsed body of the last answer. */
  get body(): unknown {
    return parsed(this.#received.slice(this.#received.lastIndexOf('\r\n\r\n') + 4));
  }
}
