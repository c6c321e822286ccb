import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The outcome of an SMS to this number. */
export function isRefused(number: string): boolean {
  return number.endsWith('13');
}

/**
 * An HTTP gateway that counts what it takes, and that no kill reaches. It refuses some numbers for good, postpones
 * some, gives no answer for some that it took, and reports the others as delivered to any host that listens.
 */
export class CountingCarrier {
  readonly secret = 'a-secret-of-the-counting-carrier';
  /** How often it took an SMS, by number. */
  readonly taken = new Map<string, number>();
  /** SMS that it took without an answer. */
  dropped = 0;
  /** The share of what it takes that gets no answer. */
  dropShare = 0.05;
  /** By number: the answer that an SMS got when it was taken. */
  private readonly ids = new Map<string, string>();
  private open = true;
  private readonly server: Server = createServer((request, response) => {
    // A host that was killed during its request asked for nothing.
    this.answer(request, response).catch(() => undefined);
  });

  private constructor(
    private readonly random: () => number,
    private readonly hosts: () => readonly { readonly url: string }[],
    private readonly idempotent: boolean,
  ) {}

  /**
   * @param hosts the hosts that get receipts, any of them
   * @param idempotent whether it takes an SMS once, however often it is submitted
   */
  static async listen(
    random: () => number,
    hosts: () => readonly { readonly url: string }[],
    idempotent: boolean,
  ): Promise<CountingCarrier> {
    const carrier = new CountingCarrier(random, hosts, idempotent);
    carrier.server.listen(0, '127.0.0.1');
    await once(carrier.server, 'listening');
    return carrier;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** More than once for the same SMS. */
  get duplicates(): number {
    return [...this.taken.values()].reduce((sum, times) => sum + times - 1, 0);
  }

  async close(): Promise<void> {
    this.open = false;
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { number }: { number: string } = JSON.parse(body);
    const say = (status: number, json: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    if (isRefused(number)) return void say(422, { error: 'bad_number' });
    if (this.random() < 0.03) return void say(409, { error: 'later' });
    const id = (this.idempotent && this.ids.get(number)) || this.take(number);
    if (this.random() < this.dropShare) {
      this.dropped++;
      return void request.socket.destroy();
    }
    say(200, { id });
    await this.report(id, number);
  }

  private take(number: string): string {
    const times = (this.taken.get(number) ?? 0) + 1;
    this.taken.set(number, times);
    const id = `counting-${number}-${times}`;
    this.ids.set(number, id);
    return id;
  }

  /** Repeats until a host has stored it, so no receipt is lost because a host is dead or cannot store. */
  private async report(id: string, number: string): Promise<void> {
    const body = new URLSearchParams({ id, number });
    for (let turn = this.taken.size; this.open; turn++) {
      const hosts = this.hosts();
      const host = hosts[turn % hosts.length];
      const url = `${host?.url}/api/v1/sms/callbacks/counting/${this.secret}`;
      const stored = await fetch(url, { method: 'POST', body }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (stored) return;
      await pause(100);
    }
  }
}
