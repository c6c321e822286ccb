import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../../common/clock.js';
import { COMMAND_ID, RESPONSE_BIT } from '../pdu/command.js';
import { decodePdu } from '../pdu/decode-pdu.js';
import { PduWriter, writePdu, writeSubmit } from '../pdu/encode-pdu.js';
import { FrameReader, HEADER_LENGTH, MalformedPdu } from '../pdu/frame-reader.js';
import type { Pdu, ShortMessage } from '../pdu/pdu.js';
import type { SmppSessionSettings } from './session-settings.js';

/** Who a {@link SessionWire} tells what happens. */
export interface WireListener {
  /** Octets can be sent; over TLS the peer's certificate is accepted. */
  connected?(): void;
  pdu(pdu: Pdu): void;
  /** A request or a response nobody could read. Of a response, what its header says comes as a PDU behind this. */
  malformed(error: MalformedPdu): void;
  /** There is room again for what was held back. */
  drained(): void;
  /** The connection is of no more use. May come more than once. */
  lost(reason: string): void;
}

/** Octets one write takes at most, but for what one PDU more adds. */
const LONGEST_WRITE = 65_536;

/** How long the other side may take to hang up once we have said our last. */
const LINGER_MS = 2_000;

/**
 * PDUs over one connection. What one turn of the event loop wants to say leaves in one write. While the peer does not read,
 * no second write is handed to the socket and nothing more is read, so that answers cannot pile up.
 */
export class SessionWire {
  private readonly socket: Socket;
  private readonly writer = new PduWriter();
  private readonly reader = new FrameReader((frame) => this.take(frame));
  private handedOver = 0;
  private scheduled = false;
  private over = false;

  /** Begins to connect. @throws Error when a certificate or key of ours cannot be read */
  constructor(
    settings: SmppSessionSettings,
    private readonly clock: Clock,
    private listener: WireListener,
  ) {
    this.socket = connectSocket(settings, () => this.listener.connected?.());
    this.socket.on('data', (chunk) => this.receive(chunk));
    this.socket.on('drain', () => this.drain());
    this.socket.on('error', (error) => this.listener.lost(`the connection failed: ${error.message}`));
    this.socket.on('end', () => this.listener.lost('the SMSC closed the connection'));
    this.socket.on('close', () => this.listener.lost('the connection is closed'));
  }

  /** There is enough to write already, or the peer does not read as fast as we write: hold back what can wait. */
  get blocked(): boolean {
    return this.writer.length >= LONGEST_WRITE || this.socket.writableNeedDrain;
  }

  /** Octets written so far, those that have not left yet included. */
  get position(): number {
    return this.handedOver + this.writer.length;
  }

  /** From now on tells another one. */
  listen(listener: WireListener): void {
    this.listener = listener;
  }

  /** Whether what was written at `position` may have left the process. */
  hasLeft(position: number): boolean {
    return position < this.handedOver;
  }

  /** @throws RangeError when a field does not fit; then nothing is sent */
  send(pdu: Pdu): void {
    if (this.over) return;
    writePdu(this.writer, pdu);
    this.schedule();
  }

  /** @throws RangeError as `send` */
  submit(sequence: number, message: ShortMessage): void {
    writeSubmit(this.writer, sequence, message);
    this.schedule();
  }

  /** Sends what was written, if the peer reads, and hangs up behind it. What the peer still says is not heard. */
  end(): void {
    this.flush();
    this.over = true;
    this.socket.end();
    const cancel = this.clock.after(LINGER_MS, () => this.socket.destroy());
    this.socket.once('close', cancel);
  }

  /** Hangs up at once; what has not left never will. */
  destroy(): void {
    this.over = true;
    this.socket.destroy();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.over || this.writer.length === 0 || this.socket.writableNeedDrain) return;
    const wasBlocked = this.blocked;
    const octets = this.writer.take();
    this.handedOver += octets.length;
    if (!this.socket.write(octets)) this.socket.pause();
    else if (wasBlocked) this.listener.drained();
  }

  private drain(): void {
    this.flush();
    if (this.over || this.socket.writableNeedDrain) return;
    this.socket.resume();
    this.listener.drained();
  }

  private receive(chunk: Buffer): void {
    if (this.over) return;
    try {
      this.reader.push(chunk);
    } catch (error) {
      this.listener.lost(error instanceof Error ? error.message : 'a PDU could not be handled');
    }
    // Many chunks may come in one turn: what they make us answer does not wait for its end.
    if (this.blocked) this.flush();
  }

  private take(frame: Buffer): void {
    if (this.over) return;
    const pdu = this.read(frame);
    if (pdu !== undefined) this.listener.pdu(pdu);
  }

  private read(frame: Buffer): Pdu | undefined {
    try {
      return decodePdu(frame);
    } catch (error) {
      if (!(error instanceof MalformedPdu)) throw error;
      this.listener.malformed(error);
      return error.header.commandId >= RESPONSE_BIT ? decodePdu(frame.subarray(0, HEADER_LENGTH)) : undefined;
    }
  }
}

/**
 * Begins to connect. `onReady` is called when octets can be sent: over TLS, once the peer's certificate is accepted.
 *
 * @throws SessionBindError when the settings make no connection: a certificate or key of ours that cannot be read, …
 */
function connectSocket(settings: SmppSessionSettings, onReady: () => void): Socket {
  try {
    return begin(settings, onReady).setNoDelay(true);
  } catch (error) {
    throw new SessionBindError('the settings make no connection', undefined, { cause: error });
  }
}

function begin({ host, port, tls }: SmppSessionSettings, onReady: () => void): Socket {
  if (tls === undefined) return connect({ host, port }, onReady);
  // SNI takes names only (RFC 6066, section 3); an address is checked against the certificate without it.
  const { ca, servername = isIP(host) ? undefined : host, cert, key, rejectUnauthorized = true } = tls;
  return connectTls(
    {
      host,
      port,
      rejectUnauthorized,
      ...(servername !== undefined && { servername }),
      ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    },
    onReady,
  );
}

/** No session came about. */
export class SessionBindError extends Error {
  override readonly name = 'SessionBindError';

  /**
   * @param status the SMSC's command_status, where it answered the bind with a refusal: 0x0D, 0x0E, 0x0F and 0x05 are
   *   mistakes in the configuration, not worth a tight loop. Undefined: no connection, no TLS, no answer in time.
   */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** alert_notification (SMPP 3.4, section 4.12.1): it has no answer. */
const ALERT_NOTIFICATION = 0x00000102;

/** What a PDU is answered that we cannot take; undefined for those that are never answered. */
export function refusalOf(commandId: number, sequence: number, status: number): Pdu | undefined {
  if (commandId >= RESPONSE_BIT || commandId === ALERT_NOTIFICATION) return undefined;
  const answer = { status, sequence, messageId: '', tlvs: [] };
  if (commandId === COMMAND_ID.deliver_sm) return { command: 'deliver_sm_resp', ...answer };
  if (commandId === COMMAND_ID.data_sm) return { command: 'data_sm_resp', ...answer };
  return { command: 'generic_nack', status, sequence };
}
