import {
  encodeBigEndian,
  generateSignalPubKey,
  KEY_BUNDLE_TYPE,
  type SignalRepository,
  xmppPreKey,
  xmppSignedPreKey,
} from 'baileys';
import type { Phone } from './phone.js';
import { type Stanza, stanza } from './stanza.js';
import type { WireConnection } from './wire-connection.js';

export interface PublicPreKey {
  readonly id: number;
  readonly key: Uint8Array;
}

/** The data with which a client registered when it was linked. */
export interface Registration {
  readonly noiseKey: Buffer;
  readonly identity: Buffer;
  readonly registrationId: number;
  readonly signedPreKey: PublicPreKey & { readonly signature: Uint8Array };
}

type SignalSession = Parameters<SignalRepository['injectE2ESession']>[0]['session'];

/** A client that a phone has linked. The server knows only its public keys. */
export class LinkedDevice {
  /** One-time keys that the client has uploaded and that nobody has used. */
  readonly preKeys: PublicPreKey[] = [];
  connection: WireConnection | undefined;

  constructor(
    readonly phone: Phone,
    readonly id: number,
    readonly registration: Registration,
  ) {}

  get jid(): string {
    return `${this.phone.number}:${this.id}@s.whatsapp.net`;
  }

  get lid(): string {
    return `${this.phone.lidUser}:${this.id}@lid`;
  }

  /** The keys that somebody needs to write to this device for the first time. Uses up a one-time key. */
  bundle(jid: string): Stanza {
    const { identity, registrationId, signedPreKey } = this.registration;
    const preKey = this.preKeys.shift();
    const { id, key, signature } = signedPreKey;
    return keyBundle(jid, registrationId, identity, [
      xmppSignedPreKey({ keyId: id, keyPair: { public: key, private: key }, signature }),
      ...(preKey ? [xmppPreKey({ public: preKey.key, private: preKey.key }, preKey.id)] : []),
    ]);
  }

  /** The same for a phone that writes to it. */
  takeSession(): SignalSession {
    const { identity, registrationId, signedPreKey } = this.registration;
    const preKey = this.preKeys.shift();
    return {
      registrationId,
      identityKey: generateSignalPubKey(identity),
      signedPreKey: {
        keyId: signedPreKey.id,
        publicKey: generateSignalPubKey(signedPreKey.key),
        signature: signedPreKey.signature,
      },
      ...(preKey ? { preKey: { keyId: preKey.id, publicKey: generateSignalPubKey(preKey.key) } } : {}),
    };
  }
}

/** A key bundle as the server hands it out. */
export function keyBundle(jid: string, registrationId: number, identity: Uint8Array, keys: Stanza[]): Stanza {
  return stanza('user', { jid }, [
    stanza('registration', {}, encodeBigEndian(registrationId, 4)),
    stanza('type', {}, KEY_BUNDLE_TYPE),
    stanza('identity', {}, identity),
    ...keys,
  ]);
}
