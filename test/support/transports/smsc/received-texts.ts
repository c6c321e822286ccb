import { readGsm7 } from '../gsm7-packing.js';
import type { SmscSubmit } from './smsc-submit.js';

const UDH_INDICATOR = 0x40;
const SAR_REFERENCE = 0x020c;
const PAYLOAD = 0x0424;

/** The texts that a phone would show for these submits, in the order of their first parts. */
export function receivedTexts(submits: readonly SmscSubmit[], defaultAlphabet: 'gsm' | 'latin1'): string[] {
  const texts = new Map<string, string>();
  for (const submit of submits) {
    const key = referenceOf(submit);
    texts.set(key, (texts.get(key) ?? '') + partText(submit, defaultAlphabet));
  }
  return [...texts.values()];
}

/** The same for all parts of one text, and different for texts to one phone. */
function referenceOf({ pdu, index }: SmscSubmit): string {
  const { esmClass, shortMessage, tlvs } = pdu;
  const sar = tlvs.find(({ tag }) => tag === SAR_REFERENCE);
  if (sar) return Buffer.from(sar.value).toString('hex');
  if ((esmClass & UDH_INDICATOR) === 0) return `alone ${index}`;
  // The header without its last octet, which is the part's number.
  return Buffer.from(shortMessage.subarray(0, shortMessage[0] ?? 0)).toString('hex');
}

function partText({ pdu }: SmscSubmit, defaultAlphabet: 'gsm' | 'latin1'): string {
  const { esmClass, shortMessage, tlvs, dataCoding } = pdu;
  const header = esmClass & UDH_INDICATOR ? 1 + (shortMessage[0] ?? 0) : 0;
  const payload = tlvs.find(({ tag }) => tag === PAYLOAD)?.value;
  const octets = payload ?? shortMessage.subarray(header);
  if (dataCoding === 8) return new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }).decode(octets);
  return defaultAlphabet === 'gsm' ? readGsm7(octets) : Buffer.from(octets).toString('latin1');
}
