import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that a receiver got. */
export interface ReceivedCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The numbers of its events, in their order. */
  readonly sequences: readonly (number | null)[];
}

/** The receiver's answer; default 200. */
export type Answers = (call: ReceivedCall, response: ServerResponse, index: number) => void;

/** An endpoint on loopback that records what it receives. */
export class Receiver {
  readonly calls: ReceivedCall[] = [];
  /** Concurrent calls: now, and the most at a time. */
  underWay = 0;
  most = 0;
  answers: Answers = (_, response) => response.end();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      receiver.underWay++;
      receiver.most = Math.max(receiver.most, receiver.underWay);
      response.once('close', () => receiver.underWay--);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const call = { headers: request.headers, body, sequences: sequencesOf(body) };
        receiver.calls.push(call);
        receiver.answers(call, response, receiver.calls.length - 1);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** The numbers of all events that came, including repeats. */
  get sequences(): readonly (number | null)[] {
    return this.calls.flatMap(({ sequences }) => sequences);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

interface Event {
  readonly sequence: number | null;
}

function sequencesOf(body: string): readonly (number | null)[] {
  const parsed = JSON.parse(body) as Event | { readonly events: readonly Event[] };
  return ('events' in parsed ? parsed.events : [parsed]).map(({ sequence }) => sequence);
}
