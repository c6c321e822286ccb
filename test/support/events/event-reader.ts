import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';

/** One server-sent event. */
export interface ReadEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a stream of server-sent events like an EventSource, without reconnecting. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  /** Everything that came, including comments. */
  text = '';
  /** Whether the server has ended the stream. After a broken connection it has not. */
  ended = false;
  /** Whether nothing more can come. */
  over = false;
  /**
   * The pieces of the event that is not complete yet. `text` is only joined on demand, because searching it copies all
   * of it.
   */
  private rest = '';
  private changed: () => void = () => {};

  private constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      this.text += chunk;
      this.parse(chunk);
    });
    response.once('end', () => {
      this.ended = true;
    });
    response.once('close', () => {
      this.over = true;
      this.changed();
    });
    response.on('error', () => {});
  }

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
    const request = get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (!response) throw new Error('no response');
    return new EventReader(request, response);
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /**
   * The first event that meets the condition, now or later. Jest's time limit is the deadline. @throws Error when the
   * stream is over
   */
  async until(isIt: (event: ReadEvent) => boolean): Promise<ReadEvent> {
    for (;;) {
      const found = this.events.find(isIt);
      if (found) return found;
      if (this.over) throw new Error(`The stream is over: ${this.events.map(({ type }) => type).join(', ')}`);
      await this.change();
    }
  }

  /** The first event of that type. */
  first(type: string): Promise<ReadEvent> {
    return this.until((event) => event.type === type);
  }

  /** Resolves when nothing more can come. */
  async end(): Promise<void> {
    while (!this.over) await this.change();
  }

  /** Closes the connection. */
  leave(): void {
    this.request.destroy();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.changed = resolve;
    });
  }

  private parse(chunk: string): void {
    const parts = (this.rest + chunk).split('\n\n');
    this.rest = parts.pop() ?? '';
    for (const part of parts) {
      const lines = part.split('\n');
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      if (data !== undefined) this.events.push({ type: field('event') ?? 'message', data: JSON.parse(data) });
    }
    this.changed();
  }
}
