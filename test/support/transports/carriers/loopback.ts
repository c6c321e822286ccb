import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const ATTEMPTS = 5;

/**
 * Starts a peer on a loopback address that nobody else is likely to use, with ports that are free there, or on other
 * ports if another process took one of them first. A port that is free on that address alone is not enough, because a
 * program that listens on all addresses holds its port there too. On Linux, where these peers run, all of 127.0.0.0/8
 * is loopback.
 *
 * @param count how many ports
 * @param start rejects with the peer's words; those of the system say that a port is in use
 */
export async function onFreePorts<T>(
  count: number,
  start: (host: string, ports: readonly number[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const host = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
    try {
      return await start(host, await freePorts(host, count));
    } catch (error) {
      if (attempt === ATTEMPTS || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

/** Ports on which nothing listens, all different. */
async function freePorts(host: string, count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, host);
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.flatMap((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? [address.port] : [];
  });
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
