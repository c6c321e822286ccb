import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

/**
 * Records the sockets that this process opens as a client. Their counters show what the kernel and Node hold of a bind.
 */
export class ClientSockets {
  private readonly opened: Socket[] = [];
  private readonly remember = (message: unknown) => {
    const socket = typeof message === 'object' && message !== null && 'socket' in message ? message.socket : undefined;
    if (socket instanceof Socket) this.opened.push(socket);
  };

  constructor() {
    subscribe('net.client.socket', this.remember);
  }

  /** The socket opened last. @throws Error if there was none */
  get newest(): Socket {
    const socket = this.opened.at(-1);
    if (socket === undefined) throw new Error('No socket was opened.');
    return socket;
  }

  stop(): void {
    unsubscribe('net.client.socket', this.remember);
  }
}
