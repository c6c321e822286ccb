import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A key and a certificate, PEM. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

/** One DER element (X.690): tag, length, contents. */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const ECDSA_SHA256 = der(0x30, oid('2a8648ce3d040302'));
const SUBJECT_ALT_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');

function name(commonName: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(commonName)))));
}

function altName(host: string): Buffer {
  return isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

/**
 * A fresh self-signed certificate (RFC 5280) for hosts: names, or IPv4 addresses. @param until the year in which it
 * ends
 */
export function testCertificate(hosts: readonly string[], until = 2049): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  const subject = name(`test of ${hosts[0]}`);
  const time = (year: number) => der(0x17, Buffer.from(`${String(year % 100).padStart(2, '0')}0101000000Z`));
  const extension = (id: Buffer, value: Buffer) => der(0x30, id, der(0x04, value));
  const toBeSigned = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    subject,
    der(0x30, time(2020), time(until)),
    subject,
    publicKey,
    der(
      0xa3,
      der(
        0x30,
        extension(SUBJECT_ALT_NAME, der(0x30, ...hosts.map(altName))),
        extension(BASIC_CONSTRAINTS, der(0x30, der(0x01, Buffer.from([255])))),
      ),
    ),
  );
  const signature = sign('sha256', toBeSigned, createPrivateKey(privateKey));
  const whole = der(0x30, toBeSigned, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return { key: privateKey, cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n` };
}
