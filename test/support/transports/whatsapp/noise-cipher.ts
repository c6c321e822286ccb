import { hkdfSync } from 'node:crypto';
import { aesDecryptGCM, aesEncryptGCM, NOISE_MODE, sha256 } from 'baileys';

const NOTHING = Buffer.alloc(0);

/** Twelve bytes that end in a counter. */
function nonce(counter: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}

/** One direction of an open connection: AES-256-GCM with a counter, and no authenticated data besides the text. */
export class TransportCipher {
  private counter = 0;

  constructor(private readonly key: Buffer) {}

  seal(plain: Uint8Array): Buffer {
    return aesEncryptGCM(plain, this.key, nonce(this.counter++), NOTHING);
  }

  open(sealed: Uint8Array): Buffer {
    return aesDecryptGCM(sealed, this.key, nonce(this.counter++), NOTHING);
  }
}

/** The state of a Noise handshake (Noise protocol framework, revision 34, section 5.2), over HKDF-SHA256 and AES-256-GCM. */
export class HandshakeCipher {
  // The protocol's name has exactly 32 bytes, so it is used unchanged as the first hash and the first key.
  private hash: Buffer = Buffer.from(NOISE_MODE);
  private chainingKey: Buffer = this.hash;
  private key: Buffer = this.hash;
  private counter = 0;

  mixHash(data: Uint8Array): void {
    this.hash = sha256(Buffer.concat([this.hash, data]));
  }

  mixKey(secret: Uint8Array): void {
    [this.chainingKey, this.key] = this.derive(secret);
    this.counter = 0;
  }

  seal(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, this.key, nonce(this.counter++), this.hash);
    this.mixHash(sealed);
    return sealed;
  }

  open(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.key, nonce(this.counter++), this.hash);
    this.mixHash(sealed);
    return plain;
  }

  /** The ciphers after the handshake: from the initiator, and to it. */
  split(): { readonly incoming: TransportCipher; readonly outgoing: TransportCipher } {
    const [incoming, outgoing] = this.derive(NOTHING);
    return { incoming: new TransportCipher(incoming), outgoing: new TransportCipher(outgoing) };
  }

  private derive(secret: Uint8Array): [Buffer, Buffer] {
    const bytes = Buffer.from(hkdfSync('sha256', secret, this.chainingKey, '', 64));
    return [bytes.subarray(0, 32), bytes.subarray(32)];
  }
}
