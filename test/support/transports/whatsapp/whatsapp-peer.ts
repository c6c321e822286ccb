import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WA_CERT_DETAILS } from 'baileys';
import { WebSocketServer } from 'ws';
import { Directory } from './directory.js';
import { type Faults, noFaults } from './faults.js';
import { letLeftoverTimersGo } from './leftover-timers.js';
import type { LinkedDevice } from './linked-device.js';
import { logIn } from './login.js';
import { LOOPBACK_CERTIFICATE } from './loopback-tls.js';
import { MediaHost } from './media-host.js';
import { relay } from './message-relay.js';
import { makeNoiseCertificates } from './noise-certificates.js';
import type { Client } from './noise-responder.js';
import { demandPasskey, offerPairing, pair, readCode } from './pairing.js';
import { Phone, type PhoneNetwork } from './phone.js';
import { answerQuery, type FirstKeys, queryName } from './queries.js';
import { type Stanza, stanza } from './stanza.js';
import { type ConnectionEvents, WireConnection } from './wire-connection.js';

/**
 * WhatsApp on loopback, as far as a linked client sees it: the server with its media host, and the phones. It speaks
 * the real protocol and checks what it receives. It shows that a client uses the protocol correctly, not that WhatsApp
 * would admit it.
 */
export class WhatsappPeer implements PhoneNetwork, ConnectionEvents {
  readonly faults: Faults = noFaults();
  /** Faults of clients. Empty at the end of a good test. */
  readonly complaints: unknown[] = [];
  /** How many connections have been made, including those that failed. */
  connectionsMade = 0;
  /** Ids of the messages that linked devices have confirmed. */
  readonly confirmed: string[] = [];
  /** The ids of the messages that linked devices have shown as read. */
  readonly reads: string[] = [];
  /** Names of the queries that came, in order. */
  readonly questions: string[] = [];
  private readonly certificates = makeNoiseCertificates();
  private readonly directory = new Directory();
  private readonly connections = new Set<WireConnection>();
  private readonly media = new MediaHost(this.faults);
  private readonly http = createServer();
  private readonly sockets = new WebSocketServer({ noServer: true });

  private constructor(private readonly firstKeys: FirstKeys) {}

  /** Starts a peer, and makes the loaded Baileys trust it. */
  static async start(firstKeys: FirstKeys = 'few'): Promise<WhatsappPeer> {
    const peer = new WhatsappPeer(firstKeys);
    // Replaces WhatsApp's own root.
    Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(peer.certificates.root) });
    letLeftoverTimersGo();
    peer.http.on('upgrade', (request, socket, head) => peer.upgrade(request, socket, head));
    await Promise.all([once(peer.http.listen(0, '127.0.0.1'), 'listening'), peer.media.start()]);
    return peer;
  }

  async stop(): Promise<void> {
    for (const connection of this.connections) connection.cut();
    const closed = once(this.http, 'close');
    this.http.close();
    await Promise.all([closed, this.media.stop()]);
  }

  /** The URL to which clients connect. */
  get url(): string {
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}/ws/chat`;
  }

  /** The certificate that makes the media host trusted. */
  get ca(): string {
    return LOOPBACK_CERTIFICATE;
  }

  /** The handset of a number. The number is registered from the first call on. */
  phone(number: string): Phone {
    const known = this.directory.phone(number);
    if (known) return known;
    const phone = new Phone(number, this);
    this.directory.add(phone);
    return phone;
  }

  /** From now on people may also spell a phone's number like this, as with the ninth digit of Brazilian mobiles. */
  alias(spelling: string, phone: Phone): void {
    this.directory.alias(spelling, phone);
  }

  /** The numbers for which clients have asked whether they are on the app, in order. */
  get soughtNumbers(): readonly string[] {
    return this.directory.soughtNumbers;
  }

  /** The open connections of a number's linked devices. */
  connectionsOf(number: string): WireConnection[] {
    return [...this.connections].filter(({ device }) => device?.phone.number === number);
  }

  /** As if another client connected with a number's credentials. */
  replace(number: string): void {
    for (const connection of this.connectionsOf(number)) {
      connection.endStream(undefined, stanza('conflict', { type: 'replaced' }));
    }
  }

  /** How many connections are open now. */
  get openConnections(): number {
    return this.connections.size;
  }

  /** The connections that show a code, oldest first. */
  get offers(): WireConnection[] {
    return [...this.connections].filter(({ offer }) => offer);
  }

  devicesOf(number: string): LinkedDevice[] {
    return this.directory.devicesOf(number);
  }

  /** A code is good for one scan, on the connection that shows it. */
  async scan(phone: Phone, qr: string): Promise<LinkedDevice | undefined> {
    const code = readCode(qr);
    const connection = this.offers.find(({ offer }) => offer?.refs.includes(code.ref));
    const offer = connection?.offer;
    if (!connection || !offer) throw new Error('Nobody shows this code any more.');
    if (this.faults.passkey) {
      demandPasskey(connection);
      return undefined;
    }
    connection.offer = undefined;
    const device = await pair(connection, offer, phone, code, this.faults);
    this.directory.link(device);
    connection.endStream(515);
    return device;
  }

  unlink(device: LinkedDevice): void {
    this.directory.unlink(device);
    device.connection?.endStream(401, stanza('conflict', { type: 'device_removed' }));
  }

  blobAt(path: string): Buffer | undefined {
    return this.media.blobs.get(path);
  }

  keepBlob(path: string, blob: Buffer): void {
    this.media.blobs.set(path, blob);
  }

  /** The URL from which clients download files. */
  get mediaUrl(): string {
    return `https://${this.media.host}`;
  }

  arrived(connection: WireConnection, client: Client): void {
    if (this.faults.silent || this.faults.deaf) return;
    if (client.payload.devicePairingData?.eIdent) offerPairing(connection, client, this.faults.refs);
    else logIn(connection, client, this.directory, this.faults);
  }

  async received(connection: WireConnection, node: Stanza): Promise<void> {
    if (this.faults.deaf) return;
    if (node.tag === 'message' && connection.device) {
      return relay(node, connection.device, this.directory, this.faults);
    }
    if (node.tag === 'receipt') this.confirmed.push(node.attrs.id ?? '');
    if (node.tag === 'receipt' && node.attrs.type === 'read') this.reads.push(node.attrs.id ?? '');
    if (node.tag !== 'iq') return;
    const name = queryName(node);
    this.questions.push(name);
    if (this.faults.held.has(name) || (this.faults.silent && name !== 'w:p/ping')) return;
    const { directory, firstKeys } = this;
    await answerQuery(connection, node, { directory, mediaHost: this.media.host, firstKeys });
  }

  gone(connection: WireConnection): void {
    this.connections.delete(connection);
    if (connection.device?.connection === connection) connection.device.connection = undefined;
  }

  failed(error: unknown): void {
    this.complaints.push(error);
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.connectionsMade++;
    const { upgradeStatus } = this.faults;
    if (upgradeStatus !== undefined) {
      socket.end(`HTTP/1.1 ${upgradeStatus} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      this.connections.add(new WireConnection(accepted, this.certificates, this));
    });
  }
}
