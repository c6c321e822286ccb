import { connect, Socket } from 'node:net';
import { MediaNetwork } from '../../../src/media/address-guard.js';

/** A socket that was opened. */
export interface Dialled {
  readonly address: string;
  readonly port: number;
}

/**
 * A network of names and addresses that a test defines. Public addresses lead to servers on loopback, and undefined
 * addresses are never really dialled. It records what was looked up and dialled.
 */
export class FakeNetwork extends MediaNetwork {
  override authorities: readonly string[] | undefined = undefined;
  readonly lookups: string[] = [];
  readonly dialled: Dialled[] = [];
  /** Called at each look-up, before it is answered. */
  onLookup: () => void | Promise<void> = () => {};
  private readonly names = new Map<string, (readonly string[])[]>();
  private readonly routes = new Map<string, number>();
  private readonly holes = new Set<string>();
  private readonly sockets = new Set<Socket>();

  /** The answers of a name, one per look-up. The last one is repeated. */
  name(host: string, ...answers: (readonly string[])[]): this {
    this.names.set(host, answers);
    return this;
  }

  /** Where an address really leads: a port of 127.0.0.1, whichever port is dialled. */
  route(address: string, port: number): this {
    this.routes.set(address, port);
    return this;
  }

  /** An address that never answers. */
  hole(address: string): this {
    this.holes.add(address);
    return this;
  }

  /** Sockets that are still open. */
  get open(): number {
    return this.sockets.size;
  }

  override async resolve(host: string): Promise<readonly string[]> {
    this.lookups.push(host);
    await this.onLookup();
    const answers = this.names.get(host);
    const answer = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
    if (answer === undefined) throw new Error('ENOTFOUND');
    return answer;
  }

  override dial(address: string, port: number): Socket {
    this.dialled.push({ address, port });
    const socket = this.connect(address, port);
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }

  private connect(address: string, port: number): Socket {
    if (this.holes.has(address)) return new Socket();
    const routed = this.routes.get(address);
    if (routed !== undefined) return connect({ host: '127.0.0.1', port: routed });
    if (/^(::ffff:)?127\.|^::1$/.test(address)) return connect({ host: address, port });
    const nowhere = new Socket();
    process.nextTick(() => nowhere.destroy(new Error('ECONNREFUSED')));
    return nowhere;
  }
}
