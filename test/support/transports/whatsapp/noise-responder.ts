import { Curve, NOISE_WA_HEADER, proto } from 'baileys';
import type { NoiseCertificates } from './noise-certificates.js';
import { HandshakeCipher, type TransportCipher } from './noise-cipher.js';

/** The peer, once the handshake is done. */
export interface Client {
  readonly payload: proto.ClientPayload;
  /** The client's static key, proven by the handshake. */
  readonly noiseKey: Buffer;
  readonly incoming: TransportCipher;
  readonly outgoing: TransportCipher;
}

/** The server's side of `Noise_XX_25519_AESGCM_SHA256`, for one connection. */
export class NoiseResponder {
  private readonly cipher = new HandshakeCipher();
  private readonly ephemeral = Curve.generateKeyPair();

  constructor(private readonly certificates: NoiseCertificates) {
    this.cipher.mixHash(NOISE_WA_HEADER);
  }

  /** Takes the client's first message and returns ours. */
  hello(message: Buffer): Uint8Array {
    const theirs = bytes(proto.HandshakeMessage.decode(message).clientHello?.ephemeral);
    const { server, chain } = this.certificates;
    this.cipher.mixHash(theirs);
    this.cipher.mixHash(this.ephemeral.public);
    this.cipher.mixKey(Curve.sharedKey(this.ephemeral.private, theirs));
    const sealedKey = this.cipher.seal(server.public);
    this.cipher.mixKey(Curve.sharedKey(server.private, theirs));
    const payload = this.cipher.seal(chain);
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.ephemeral.public, static: sealedKey, payload },
    }).finish();
  }

  /** Takes the client's second message. @throws Error if it does not prove its key */
  finish(message: Buffer): Client {
    const { clientFinish } = proto.HandshakeMessage.decode(message);
    const noiseKey = this.cipher.open(bytes(clientFinish?.static));
    this.cipher.mixKey(Curve.sharedKey(this.ephemeral.private, noiseKey));
    const payload = proto.ClientPayload.decode(this.cipher.open(bytes(clientFinish?.payload)));
    return { payload, noiseKey, ...this.cipher.split() };
  }
}

function bytes(field: Uint8Array | null | undefined): Buffer {
  if (!field) throw new Error('The handshake lacks a field.');
  return Buffer.from(field);
}
