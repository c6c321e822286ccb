import { randomInt } from 'node:crypto';

/**
 * A loopback address that nobody else is likely to use: a peer with fixed ports has them all for itself there, whatever
 * else runs on the machine. The whole of 127.0.0.0/8 is the loopback's on Linux, where these peers run.
 */
export function ownLoopbackAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
}
