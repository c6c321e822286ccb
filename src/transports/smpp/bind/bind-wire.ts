import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../../common/clock.js';
import { COMMAND_ID, RESPONSE_BIT } from '../pdu/command.js';
import { decodePdu } from '../pdu/decode-pdu.js';
import { PduWriter, writePdu, writeSubmit } from '../pdu/encode-pdu.js';
import { FrameReader, HEADER_LENGTH, MalformedPdu } from '../pdu/frame-reader.js';
import type { Pdu, ShortMessage } from '../pdu/pdu.js';
import type { SmppBindSettings } from './bind-settings.js';

/** The listener of a {@link BindWire}. */
export interface WireListener {
  /** The connection is ready. Over TLS, the peer's certificate is verified. */
  connected?(): void;
  pdu(pdu: Pdu): void;
  /** A request or response could not be read. For a response, a PDU with the fields of its header follows. */
  malformed(error: MalformedPdu): void;
  /** Writing is possible again after `blocked`. */
  drained(): void;
  /** The connection is lost. This may be called more than once. */
  lost(reason: string): void;
}

/** The number of pending octets from which on further PDUs are held back. */
const MAX_PENDING = 65_536;

/** How long the peer may take to close the connection after our end, in milliseconds. */
const LINGER_MS = 2_000;

/**
 * Sends and receives PDUs over one connection. The PDUs of one turn of the event loop leave in one write. While the peer does not
 * read, we neither write to the socket nor read from it, so that answers cannot accumulate.
 */
export class BindWire {
  private readonly socket: Socket;
  private readonly writer = new PduWriter();
  private readonly reader = new FrameReader((frame) => this.take(frame));
  private written = 0;
  private scheduled = false;
  private over = false;

  /**
   * Starts to connect.
   * @throws BindError if a certificate or key of the settings cannot be read
   */
  constructor(
    settings: SmppBindSettings,
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

  /** Whether submits should be held back, because many octets are pending or the peer does not read fast enough. */
  get blocked(): boolean {
    return this.writer.length >= MAX_PENDING || this.socket.writableNeedDrain;
  }

  /** The number of octets so far, including those that have not left the process. */
  get position(): number {
    return this.written + this.writer.length;
  }

  /** Replaces the listener. */
  listen(listener: WireListener): void {
    this.listener = listener;
  }

  /** Whether the octet at `position` may have left the process. */
  hasLeft(position: number): boolean {
    return position < this.written;
  }

  /**
   * Sends a PDU.
   * @throws RangeError if a field does not fit. Then nothing is sent
   */
  send(pdu: Pdu): void {
    if (this.over) return;
    writePdu(this.writer, pdu);
    this.schedule();
  }

  /**
   * Sends a submit_sm.
   * @throws RangeError as `send` does
   */
  submit(sequence: number, message: ShortMessage): void {
    writeSubmit(this.writer, sequence, message);
    this.schedule();
  }

  /** Sends pending octets, if the peer reads, and closes the connection. Further input is ignored. */
  end(): void {
    this.flush();
    this.over = true;
    this.socket.end();
    const cancel = this.clock.after(LINGER_MS, () => this.socket.destroy());
    this.socket.once('close', cancel);
  }

  /** Closes the connection at once. Pending octets are dropped. */
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
    this.written += octets.length;
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
    // Many chunks may arrive in one turn. The answers are flushed early, so that they do not accumulate.
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
 * Starts to connect. `onReady` is called when the connection is ready. Over TLS this is after the peer's certificate is verified.
 *
 * @throws BindError for settings that cannot be used, such as an unreadable certificate or key
 */
function connectSocket(settings: SmppBindSettings, onReady: () => void): Socket {
  try {
    return begin(settings, onReady).setNoDelay(true);
  } catch (error) {
    throw new BindError('no connection can be made with these settings', undefined, { cause: error });
  }
}

function begin({ host, port, tls }: SmppBindSettings, onReady: () => void): Socket {
  if (tls === undefined) return connect({ host, port }, onReady);
  // SNI allows names only (RFC 6066 section 3). An address is verified against the certificate without SNI.
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

/** Connecting or binding failed. */
export class BindError extends Error {
  override readonly name = 'BindError';

  /**
   * @param status the SMSC's command_status if it refused the bind. 0x05, 0x0D, 0x0E and 0x0F are errors of
   *   configuration, so retry them slowly. Undefined: no connection, no TLS, or no answer in time.
   */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** alert_notification (SMPP 3.4 section 4.12.1), which has no response. */
const ALERT_NOTIFICATION = 0x00000102;

/** Returns the response that refuses a PDU. Undefined for PDUs without a response. */
export function refusalOf(commandId: number, sequence: number, status: number): Pdu | undefined {
  if (commandId >= RESPONSE_BIT || commandId === ALERT_NOTIFICATION) return undefined;
  const answer = { status, sequence, messageId: '', tlvs: [] };
  if (commandId === COMMAND_ID.deliver_sm) return { command: 'deliver_sm_resp', ...answer };
  if (commandId === COMMAND_ID.data_sm) return { command: 'data_sm_resp', ...answer };
  return { command: 'generic_nack', status, sequence };
}
