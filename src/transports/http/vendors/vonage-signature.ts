import { createHash, createHmac } from 'node:crypto';
import { textOf } from '../json-values.js';
import { sameText } from '../same-text.js';
import type { UnprovenCall } from '../vendor.js';

/** As it is set in Vonage's dashboard. */
export type VonageSignatureMethod = 'md5hash' | 'md5' | 'sha1' | 'sha256' | 'sha512';

export const VONAGE_SIGNATURE_METHODS = ['md5hash', 'md5', 'sha1', 'sha256', 'sha512'] as const;

/** Vonage repeats a call for a day; what is older was kept by somebody else. */
const OLDEST_MS = 25 * 3_600_000;
/** How far its clock may go ahead of ours. */
const AHEAD_MS = 300_000;

/**
 * Whether Vonage signed a call: a hash over all fields but `sig` in the order of their names, each as `&name=value` with `&` and
 * `=` of the value made `_`; the signed `timestamp` bounds replays.
 * Source: https://developer.vonage.com/en/getting-started/concepts/signing-messages
 */
export function isSignedByVonage(
  { content, body, now }: UnprovenCall,
  secret: string,
  method: VonageSignatureMethod,
): boolean {
  // The signature is a field of the body: without one it is not parsed.
  if (!Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('sig')) return false;
  const fields = content.json === undefined ? [...content.form] : scalarsOf(content.json);
  // Values are made safe for the hash below, names are not: one that holds another field would hash like both.
  if (fields.some(([name]) => /[&=]/.test(name))) return false;
  const signature = fields.find(([name]) => name === 'sig')?.[1];
  const timestamp = fields.find(([name]) => name === 'timestamp')?.[1] ?? '';
  if (signature === undefined || !/^\d{1,11}$/.test(timestamp)) return false;
  const age = now - Number(timestamp) * 1000;
  if (age > OLDEST_MS || age < -AHEAD_MS) return false;
  const data = fields
    .filter(([name]) => name !== 'sig')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `&${name}=${value.replace(/[&=]/g, '_')}`)
    .join('');
  return sameText(signature.toLowerCase(), digest(data, secret, method));
}

function digest(data: string, secret: string, method: VonageSignatureMethod): string {
  if (method === 'md5hash')
    return createHash('md5')
      .update(data + secret)
      .digest('hex');
  return createHmac(method, secret).update(data).digest('hex');
}

function scalarsOf(json: unknown): [string, string][] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, value]): [string, string][] => {
    const text = value === '' ? '' : textOf(value);
    return text === undefined ? [] : [[name, text]];
  });
}
