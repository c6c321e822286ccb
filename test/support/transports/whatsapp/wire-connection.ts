import { decodeBinaryNode, encodeBinaryNode } from 'baileys';
import { WebSocket } from 'ws';
import { FrameReader, frame } from './frame-codec.js';
import type { LinkedDevice } from './linked-device.js';
import type { NoiseCertificates } from './noise-certificates.js';
import { type Client, NoiseResponder } from './noise-responder.js';
import type { PairingOffer } from './pairing.js';
import { attr, type Stanza, stanza } from './stanza.js';

/** How the server handles the events of a connection. */
export interface ConnectionEvents {
  arrived(connection: WireConnection, client: Client): void;
  received(connection: WireConnection, node: Stanza): void | Promise<void>;
  gone(connection: WireConnection): void;
  /** Something that a real client would not send, or that this server does not support. */
  failed(error: unknown): void;
}

/** One client's WebSocket: handshake first, then stanzas both ways, one after the other. */
export class WireConnection {
  /** Who is logged in on this connection. */
  device: LinkedDevice | undefined;
  /** The codes that can be scanned to link this connection. */
  offer: PairingOffer | undefined;
  private readonly reader = new FrameReader();
  private readonly responder: NoiseResponder;
  private readonly answers = new Map<string, (answer: Stanza) => void>();
  private greeted = false;
  private client: Client | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly socket: WebSocket,
    certificates: NoiseCertificates,
    private readonly events: ConnectionEvents,
  ) {
    this.responder = new NoiseResponder(certificates);
    socket.on('message', (data: Buffer) => this.take(data));
    socket.on('close', () => events.gone(this));
    socket.on('error', () => undefined);
  }

  send(node: Stanza): void {
    if (!this.client || this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(frame(this.client.outgoing.seal(encodeBinaryNode(node))));
  }

  /**
   * Sends a query of the server and resolves with the client's answer.
   * @throws Error if the client is gone before it answers
   */
  ask(question: Stanza): Promise<Stanza> {
    const answered = new Promise<Stanza>((resolve, reject) => {
      this.answers.set(attr(question, 'id'), resolve);
      const gone = () => reject(new Error('The client is gone.'));
      if (this.socket.readyState === WebSocket.CLOSED) gone();
      else this.socket.once('close', gone);
    });
    this.send(question);
    return answered;
  }

  /** Ends the stream with an error, as the server does before it closes the connection. */
  endStream(code: number | undefined, reason?: Stanza): void {
    const attrs: Record<string, string> = code === undefined ? {} : { code: String(code) };
    this.send(stanza('stream:error', attrs, reason && [reason]));
    this.socket.close();
  }

  /** Refuses the client at its login. */
  refuse(reason: number): void {
    this.send(stanza('failure', { reason: String(reason), location: 'peer' }));
    this.socket.close();
  }

  /** Closes the connection properly, without a message. */
  close(): void {
    this.socket.close();
  }

  /** As if the network broke. */
  cut(): void {
    this.socket.terminate();
  }

  /** Stops reading, even the client's wish to close. */
  freeze(): void {
    this.socket.pause();
  }

  /** Sends bytes that no client can decrypt. */
  sendGarbage(): void {
    this.socket.send(frame(Buffer.alloc(40, 0x5a)));
  }

  private take(data: Buffer): void {
    try {
      for (const each of this.reader.push(data)) this.takeFrame(each);
    } catch (error) {
      this.events.failed(error);
      this.socket.close();
    }
  }

  private takeFrame(bytes: Buffer): void {
    if (this.client) {
      const plain = this.client.incoming.open(bytes);
      this.turn = this.turn.then(() => this.receive(plain)).catch((error) => this.events.failed(error));
    } else if (this.greeted) {
      this.client = this.responder.finish(bytes);
      this.events.arrived(this, this.client);
    } else {
      this.greeted = true;
      this.socket.send(frame(this.responder.hello(bytes)));
    }
  }

  private async receive(plain: Buffer): Promise<void> {
    const node = await decodeBinaryNode(plain);
    const answered = node.attrs.type === 'result' ? this.answers.get(node.attrs.id ?? '') : undefined;
    if (answered) answered(node);
    else await this.events.received(this, node);
  }
}
