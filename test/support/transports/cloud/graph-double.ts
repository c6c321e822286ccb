import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that the double has taken. */
export interface GraphCall {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  /** The JSON of the body. Undefined for a file. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** The parts of a file's form. */
  readonly form: FormData | undefined;
}

/** An answer of the double. `cut`: it takes the call and ends the connection. */
type Answer =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'cut';

/** The number and the token that the double knows. */
export const CLOUD_NUMBER = { phoneNumberId: '106540352242922', accessToken: 'EAAG-token-of-tests' };

/** The options of the app at Meta that the double plays. */
export const CLOUD_APP = { appSecret: 'secret-of-the-app-at-meta', verifyToken: 'token-of-the-webhook' };

/** The credentials of the double's number, as an account gives them. */
export const CLOUD_GIVEN = {
  phone_number_id: CLOUD_NUMBER.phoneNumberId,
  access_token: CLOUD_NUMBER.accessToken,
};

/** A number that is not on the app. */
export const NOT_ON_APP = '22670000004';

/** A double of Meta's Graph API. It gives each message and file an id, unless it was told to refuse. */
export class GraphDouble {
  readonly calls: GraphCall[] = [];
  /** The answers to the next calls, one each. */
  readonly next: Answer[] = [];

  /** Called before a message is answered. */
  beforeAnswer: (call: GraphCall) => Promise<void> = async () => undefined;

  private constructor(private readonly server: Server) {}

  static async open(): Promise<GraphDouble> {
    const server = createServer();
    const double = new GraphDouble(server);
    server.on('request', (request, response) => {
      void double.answer(request).then((answer) => {
        if (answer === 'cut') return request.socket.destroy();
        if (Buffer.isBuffer(answer.body)) return response.writeHead(answer.status).end(answer.body);
        response
          .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
          .end(JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return double;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v25.0`;
  }

  /** The messages that were accepted or refused, in order. */
  get messages(): readonly GraphCall[] {
    return this.calls.filter(({ path }) => path.endsWith('/messages'));
  }

  get uploads(): readonly GraphCall[] {
    return this.calls.filter(({ path }) => path.endsWith('/media'));
  }

  /** Refuses the next call with a code of the Graph API. */
  refuse(code: number, status = 400): void {
    this.next.push(refusalWith(code, status));
  }

  /** Returns the id that a message got. */
  idOf(call: GraphCall): string {
    return `wamid.${this.calls.indexOf(call) + 1}`;
  }

  /** The files that people have sent, by Meta's id. */
  readonly received = new Map<string, Uint8Array<ArrayBuffer>>();

  /** Returns a file that was uploaded. */
  fileOf(id: unknown): Blob {
    const file = this.calls[Number(String(id).replace('file-', '')) - 1]?.form?.get('file');
    if (!(file instanceof Blob)) throw new Error(`There is no file ${String(id)}.`);
    return file;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const type = request.headers['content-type'] ?? '';
    const bytes = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = request;
    const call = {
      method,
      path,
      token: headers.authorization,
      json: type === 'application/json' ? JSON.parse(bytes.toString()) : undefined,
      form: type.startsWith('multipart/')
        ? await new Response(bytes, { headers: { 'content-type': type } }).formData()
        : undefined,
    };
    this.calls.push(call);
    const answer = this.next.shift() ?? this.taken(call);
    if (path.endsWith('/messages')) await this.beforeAnswer(call);
    return answer;
  }

  private taken({ method, path, token, json, form }: GraphCall): Answer {
    const id = this.calls.length;
    if (token !== `Bearer ${CLOUD_NUMBER.accessToken}`) return refusalWith(190, 401);
    if (json?.to === NOT_ON_APP) return refusalWith(131026, 400);
    const file = this.received.get(/\/(\d+)(\?|$)/.exec(path)?.[1] ?? '');
    if (file && path.startsWith('/files/')) return { status: 200, body: Buffer.from(file) };
    if (file)
      return {
        status: 200,
        body: { url: `${new URL(this.baseUrl).origin}/files${path.replace(/.*(\/\d+).*/, '$1')}` },
      };
    if (method === 'GET' && !path.includes(`/${CLOUD_NUMBER.phoneNumberId}?`)) return refusalWith(100, 400);
    if (method === 'GET') {
      const body = {
        display_phone_number: '+226 70 00 00 01',
        quality_rating: 'GREEN',
        id: CLOUD_NUMBER.phoneNumberId,
      };
      return { status: 200, body };
    }
    if (form) return { status: 200, body: { id: `file-${id}` } };
    const contacts = [{ input: json?.to, wa_id: json?.to, user_id: json?.recipient }];
    return { status: 200, body: { messaging_product: 'whatsapp', contacts, messages: [{ id: `wamid.${id}` }] } };
  }
}

function refusalWith(code: number, status: number): Answer {
  const error = { message: `(#${code}) A title that may change`, type: 'OAuthException', code, fbtrace_id: 'A1b2' };
  return { status, body: { error } };
}
