import { HEADER_LENGTH } from './frame-reader.js';
import { MalformedPdu, type PduHeader } from './malformed-pdu.js';
import type { SmppAddress } from './pdu.js';
import { STATUS } from './status.js';
import type { Tlv } from './tlv.js';

const TLV_HEAD = 4;

/** Reads the fields of one PDU in their order, and never an octet behind its end. */
export class BodyReader {
  private at = HEADER_LENGTH;

  constructor(
    private readonly frame: Buffer,
    private readonly header: PduHeader,
  ) {}

  get atEnd(): boolean {
    return this.at === this.frame.length;
  }

  /** @throws MalformedPdu */
  octet(): number {
    const value = this.frame[this.at];
    if (value === undefined) throw this.tooShort();
    this.at++;
    return value;
  }

  /** A C-octet string, as Latin-1. @throws MalformedPdu without a NUL before the end */
  text(): string {
    const end = this.frame.indexOf(0, this.at);
    if (end < 0) throw this.tooShort();
    const text = this.frame.toString('latin1', this.at, end);
    this.at = end + 1;
    return text;
  }

  address(): SmppAddress {
    return { ton: this.octet(), npi: this.octet(), address: this.text() };
  }

  /** A copy, since frames are only lent. @throws MalformedPdu */
  octets(length: number): Uint8Array {
    if (this.at + length > this.frame.length) throw this.tooShort();
    const from = this.at;
    this.at += length;
    return new Uint8Array(this.frame.subarray(from, this.at));
  }

  /** Whatever is left. */
  rest(): Uint8Array {
    return this.octets(this.frame.length - this.at);
  }

  /** Whatever is left, read as optional parameters. @throws MalformedPdu */
  tlvs(): readonly Tlv[] {
    if (this.atEnd) return NONE;
    const tlvs: Tlv[] = [];
    while (!this.atEnd) {
      const valueAt = this.at + TLV_HEAD;
      if (valueAt > this.frame.length) throw this.brokenTlv();
      const tag = this.frame.readUInt16BE(this.at);
      const length = this.frame.readUInt16BE(this.at + 2);
      if (valueAt + length > this.frame.length) throw this.brokenTlv();
      this.at = valueAt;
      tlvs.push({ tag, value: this.octets(length) });
    }
    return tlvs;
  }

  private tooShort(): MalformedPdu {
    return new MalformedPdu('the body ends before its last field', this.header, STATUS.invalidCommandLength);
  }

  private brokenTlv(): MalformedPdu {
    return new MalformedPdu(
      'an optional parameter reaches over the end of its PDU',
      this.header,
      STATUS.brokenOptionalPart,
    );
  }
}

const NONE: readonly Tlv[] = [];
