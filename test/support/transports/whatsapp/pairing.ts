import { createHmac, randomBytes } from 'node:crypto';
import {
  Curve,
  generateSignalPubKey,
  proto,
  S_WHATSAPP_NET,
  WA_ADV_ACCOUNT_SIG_PREFIX,
  WA_ADV_DEVICE_SIG_PREFIX,
} from 'baileys';
import { isKeySignature } from '../../../../src/transports/baileys/key-signatures.js';
import type { Faults } from './faults.js';
import { LinkedDevice, type Registration } from './linked-device.js';
import type { Client } from './noise-responder.js';
import type { Phone } from './phone.js';
import { bytesOf, child, seconds, serverIq, stanza, uint } from './stanza.js';
import type { WireConnection } from './wire-connection.js';

/** The data with which a new client can be linked. */
export interface PairingOffer {
  readonly registration: Registration;
  readonly refs: readonly string[];
}

/** The contents of a code: `…#ref,noise key,identity key,secret,platform`. */
interface ScannedCode {
  readonly ref: string;
  readonly noiseKey: Buffer;
  readonly identity: Buffer;
  readonly secret: Buffer;
}

export function readCode(qr: string): ScannedCode {
  const [ref = '', noiseKey = '', identity = '', secret = ''] = (qr.split('#')[1] ?? '').split(',');
  const bytes = (text: string) => Buffer.from(text, 'base64');
  return { ref, noiseKey: bytes(noiseKey), identity: bytes(identity), secret: bytes(secret) };
}

/**
 * Offers codes to a client that nobody has linked. @throws Error if its signed pre-key is not signed by its identity
 */
export function offerPairing(connection: WireConnection, { payload, noiseKey }: Client, refCount: number): void {
  const { eIdent, eRegid, eSkeyId, eSkeyVal, eSkeySig } = payload.devicePairingData ?? {};
  const identity = Buffer.from(eIdent ?? []);
  const signedPreKey = { id: uint(eSkeyId), key: Buffer.from(eSkeyVal ?? []), signature: Buffer.from(eSkeySig ?? []) };
  if (!isKeySignature(identity, generateSignalPubKey(signedPreKey.key), signedPreKey.signature)) {
    throw new Error('The signed pre-key is not signed.');
  }
  const refs = Array.from({ length: refCount }, () => `2@${randomBytes(32).toString('base64url')}`);
  connection.offer = { registration: { noiseKey, identity, registrationId: uint(eRegid), signedPreKey }, refs };
  const children = refs.map((ref) => stanza('ref', {}, Buffer.from(ref)));
  connection.send(serverIq([stanza('pair-device', {}, children)]));
}

/** Tells the client that its owner must prove themselves with a passkey, as some accounts must since 2026. */
export function demandPasskey(connection: WireConnection): void {
  const id = randomBytes(4).toString('hex');
  connection.send(stanza('notification', { from: S_WHATSAPP_NET, id, type: 'passkey_prologue_request', t: seconds() }));
}

/**
 * Links the client behind a code to a phone, and disconnects it so that it reconnects as a known one (515).
 *
 * @throws Error if the code is not from this connection, or if the client's signature is wrong
 */
export async function pair(
  connection: WireConnection,
  offer: PairingOffer,
  phone: Phone,
  code: ScannedCode,
  { forgedAccount }: Pick<Faults, 'forgedAccount'>,
) {
  const { registration } = offer;
  if (!registration.noiseKey.equals(code.noiseKey)) throw new Error('The code has another noise key.');
  if (!registration.identity.equals(code.identity)) throw new Error('The code has another identity.');
  const device = new LinkedDevice(phone, phone.nextDeviceId(), registration);
  const { public: accountKey, private: accountSecret } = phone.signal.identity.signedIdentityKey;
  const details = proto.ADVDeviceIdentity.encode({
    rawId: randomBytes(4).readUInt32BE(),
    timestamp: Number(seconds()),
    keyIndex: device.id,
    accountType: 0,
    deviceType: 0,
  }).finish();
  const claim = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, code.identity]);
  const signed = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: accountKey,
    accountSignature: forgedAccount ? randomBytes(64) : Curve.sign(accountSecret, claim),
  }).finish();
  const hmac = createHmac('sha256', code.secret).update(signed).digest();
  const identity = proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish();
  const answer = await connection.ask(
    serverIq([
      stanza('pair-success', {}, [
        stanza('device-identity', {}, identity),
        stanza('device', { jid: device.jid, lid: device.lid }),
        stanza('platform', { name: 'android' }),
      ]),
    ]),
  );
  const back = bytesOf(child(child(answer, 'pair-device-sign'), 'device-identity'));
  const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(back);
  const pledge = Buffer.concat([WA_ADV_DEVICE_SIG_PREFIX, details, code.identity, accountKey]);
  if (!deviceSignature || !isKeySignature(code.identity, pledge, deviceSignature)) {
    throw new Error('The device signature is not good.');
  }
  return device;
}
