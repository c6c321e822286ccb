import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** A TCP peer on the loopback that treats the octets as a test likes. */
export class RawPeer {
  readonly sockets: Socket[] = [];

  /** @param welcome receives each connection; errors of connections are ignored */
  static async listen(welcome: (socket: Socket) => void): Promise<RawPeer> {
    const peer: RawPeer = new RawPeer(
      createServer((socket) => {
        peer.sockets.push(socket);
        socket.on('error', () => {});
        welcome(socket);
      }),
    );
    peer.server.listen(0, '127.0.0.1');
    await once(peer.server, 'listening');
    return peer;
  }

  private constructor(private readonly server: Server) {}

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('The peer does not listen.');
    return address.port;
  }

  /** Cuts every connection and stops listening. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}
