import { Curve, type KeyPair, proto } from 'baileys';

/** The certificates that a server shows in the handshake: its own key, and the chain to a root that clients pin. */
export interface NoiseCertificates {
  readonly root: Uint8Array;
  readonly server: KeyPair;
  /** An encoded `CertChain`. */
  readonly chain: Uint8Array;
}

const VALIDITY_S = 86_400;

/** A root, an intermediate that it signs, and a leaf for a new server key. The root's private key is forgotten. */
export function makeNoiseCertificates(): NoiseCertificates {
  const [root, intermediate, server] = [Curve.generateKeyPair(), Curve.generateKeyPair(), Curve.generateKeyPair()];
  const branch = certificate(1, 0, intermediate.public);
  const leaf = certificate(2, 1, server.public);
  const chain = proto.CertChain.encode({
    intermediate: { details: branch, signature: Curve.sign(root.private, branch) },
    leaf: { details: leaf, signature: Curve.sign(intermediate.private, leaf) },
  }).finish();
  return { root: root.public, server, chain };
}

function certificate(serial: number, issuerSerial: number, key: Uint8Array): Uint8Array {
  const now = Math.floor(Date.now() / 1000);
  return proto.CertChain.NoiseCertificate.Details.encode({
    serial,
    issuerSerial,
    key,
    notBefore: now - 60,
    notAfter: now + VALIDITY_S,
  }).finish();
}
