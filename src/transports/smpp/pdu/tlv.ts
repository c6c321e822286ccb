/** The tags of optional parameters that this code uses (SMPP 3.4 section 5.3.2). */
export const TAG = {
  receiptedMessageId: 0x001e,
  sarMsgRefNum: 0x020c,
  sarTotalSegments: 0x020e,
  sarSegmentSeqnum: 0x020f,
  messagePayload: 0x0424,
  networkErrorCode: 0x0423,
  messageState: 0x0427,
} as const;

/** An optional parameter. Tags may repeat. Unknown tags are kept. */
export interface Tlv {
  /** 0..0xFFFF */
  readonly tag: number;
  /** At most 0xFFFF octets. */
  readonly value: Uint8Array;
}

/** Returns the value of the first parameter with this tag. */
export function tlvValue(tlvs: readonly Tlv[], tag: number): Uint8Array | undefined {
  return tlvs.find((each) => each.tag === tag)?.value;
}

/**
 * Returns the value of the first parameter with this tag as a number. Undefined if there is none, or if its length is not 1 to 4
 * octets.
 */
export function tlvNumber(tlvs: readonly Tlv[], tag: number): number | undefined {
  const value = tlvValue(tlvs, tag);
  if (value === undefined || value.length === 0 || value.length > 4) return undefined;
  return value.reduce((number, octet) => number * 256 + octet, 0);
}

/**
 * Returns the value of the first parameter with this tag as a C-octet string (Latin-1), up to its first NUL, which may be
 * missing.
 */
export function tlvString(tlvs: readonly Tlv[], tag: number): string | undefined {
  const value = tlvValue(tlvs, tag);
  if (value === undefined) return undefined;
  const end = value.indexOf(0);
  return Buffer.from(end < 0 ? value : value.subarray(0, end)).toString('latin1');
}
