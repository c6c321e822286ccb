import type { Socket } from 'node:net';
import { commandIdOf } from '../../../../src/transports/smpp/pdu/command.js';
import { decodePdu } from '../../../../src/transports/smpp/pdu/decode-pdu.js';
import { FrameReader, MalformedPdu } from '../../../../src/transports/smpp/pdu/frame-reader.js';
import type { BindPdu, Pdu, ShortMessage, SubmitSmPdu } from '../../../../src/transports/smpp/pdu/pdu.js';
import { TAG } from '../../../../src/transports/smpp/pdu/tlv.js';
import { encodePdu } from './encode-pdu.js';

/** The decisions that a connection leaves to its SMSC. */
export interface SmscHost {
  /** The status with which a bind is answered; undefined: no answer. */
  bind(bind: BindPdu, connection: SmscConnection): number | undefined;
  submit(submit: SubmitSmPdu, connection: SmscConnection): void;
  readonly systemId: string;
}

interface Asked {
  readonly resolve: (answer: Pdu) => void;
  readonly reject: (error: Error) => void;
}

/** One client at the test SMSC. */
export class SmscConnection {
  /** As it came with the accepted bind. */
  bind: BindPdu | undefined;
  /** Reads and answers nothing, not even an enquire_link. */
  silent = false;
  /** Every PDU that came, oldest first. */
  readonly received: Pdu[] = [];
  /** Submits that came and have no answer. */
  outstanding = 0;
  /** The largest number of unanswered submits so far. */
  maxOutstanding = 0;

  private sequence = 0;
  private readonly asked = new Map<number, Asked>();
  private readonly reader = new FrameReader((frame) => this.take(frame));

  constructor(
    private readonly socket: Socket,
    private readonly host: SmscHost,
  ) {
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.read(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.gone());
  }

  get closed(): boolean {
    return this.socket.destroyed;
  }

  /** How many PDUs of a command arrived. */
  count(command: Pdu['command']): number {
    return this.received.filter((pdu) => pdu.command === command).length;
  }

  send(pdu: Pdu): void {
    this.sendOctets(encodePdu(pdu));
  }

  /** Any octets, such as half a PDU. */
  sendOctets(octets: Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(octets);
  }

  /** Sends a receipt or a text to the client and resolves with its answer. @throws Error if the client disconnects first */
  deliver(message: ShortMessage): Promise<Pdu> {
    return this.ask((sequence) => ({ ...message, command: 'deliver_sm', status: 0, sequence }));
  }

  /** The same as data_sm, whose text is in message_payload. */
  data({ shortMessage, tlvs, ...message }: ShortMessage): Promise<Pdu> {
    const payload = shortMessage.length > 0 ? [{ tag: TAG.messagePayload, value: shortMessage }] : [];
    return this.ask((sequence) => ({
      ...message,
      command: 'data_sm',
      status: 0,
      sequence,
      shortMessage: new Uint8Array(0),
      tlvs: [...tlvs, ...payload],
    }));
  }

  enquire(): Promise<Pdu> {
    return this.ask((sequence) => ({ command: 'enquire_link', status: 0, sequence }));
  }

  unbind(): Promise<Pdu> {
    return this.ask((sequence) => ({ command: 'unbind', status: 0, sequence }));
  }

  /** Sends any request and resolves with the PDU that has its sequence number. */
  ask(request: (sequence: number) => Pdu): Promise<Pdu> {
    const sequence = ++this.sequence;
    const answer = new Promise<Pdu>((resolve, reject) => {
      this.asked.set(sequence, { resolve, reject });
      this.send(request(sequence));
    });
    // A caller that ignores the answer need not handle its absence.
    answer.catch(() => {});
    return answer;
  }

  /** Cuts the connection. */
  drop(): void {
    this.socket.destroy();
  }

  /** Called when one submit is answered. */
  settled(): void {
    this.outstanding--;
  }

  private read(chunk: Buffer): void {
    try {
      this.reader.push(chunk);
    } catch {
      this.drop();
    }
  }

  private take(frame: Buffer): void {
    if (this.silent) return;
    try {
      this.handle(decodePdu(frame));
    } catch (error) {
      if (!(error instanceof MalformedPdu)) throw error;
      this.send({ command: 'generic_nack', status: error.answer, sequence: error.header.sequence });
    }
  }

  private handle(pdu: Pdu): void {
    this.received.push(pdu);
    const { sequence } = pdu;
    switch (pdu.command) {
      case 'bind_receiver':
      case 'bind_transmitter':
      case 'bind_transceiver':
        this.bound(pdu);
        break;
      case 'submit_sm':
        this.submitted(pdu);
        break;
      case 'enquire_link':
        this.send({ command: 'enquire_link_resp', status: 0, sequence });
        break;
      case 'unbind':
        this.send({ command: 'unbind_resp', status: 0, sequence });
        this.socket.end();
        break;
      default:
        this.answered(pdu);
    }
  }

  private bound(bind: BindPdu): void {
    const status = this.bind === undefined ? this.host.bind(bind, this) : 0x05;
    if (status === undefined) return;
    if (status === 0) this.bind = bind;
    const systemId = status === 0 ? this.host.systemId : '';
    this.send({ command: `${bind.command}_resp`, status, sequence: bind.sequence, systemId, tlvs: [] });
  }

  private submitted(submit: SubmitSmPdu): void {
    if (this.bind === undefined || this.bind.command === 'bind_receiver') {
      this.send({ command: 'submit_sm_resp', status: 0x04, sequence: submit.sequence, messageId: '', tlvs: [] });
      return;
    }
    this.outstanding++;
    this.maxOutstanding = Math.max(this.maxOutstanding, this.outstanding);
    this.host.submit(submit, this);
  }

  private answered(pdu: Pdu): void {
    const asked = this.asked.get(pdu.sequence);
    if (commandIdOf(pdu) < 0x80000000) this.send({ command: 'generic_nack', status: 0x03, sequence: pdu.sequence });
    else if (asked !== undefined) {
      this.asked.delete(pdu.sequence);
      asked.resolve(pdu);
    }
  }

  private gone(): void {
    for (const { reject } of this.asked.values()) reject(new Error('The client is gone.'));
    this.asked.clear();
  }
}
