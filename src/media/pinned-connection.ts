import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { hostOf, type MediaNetwork, portOf } from './address-guard.js';
import type { FetchTime } from './fetch-time.js';
import { MediaRefusedError } from './media-fetcher.js';

/**
 * How many addresses are tried before the host counts as unreachable. `ATTEMPT_MS` is the time limit of each attempt.
 */
const TRIED = 3;
const ATTEMPT_MS = 2000;

/** The parts of `FetchTime` that a connection uses: the signal that ends it, and timers while it is opened. */
type ConnectionTime = Pick<FetchTime, 'signal' | 'after'>;

/**
 * Connects to one of the checked addresses, without any further look-up. With https the certificate is checked against the
 * URL's host.
 *
 * @throws Error if none of them accepts the connection
 */
export async function openPinned(
  url: URL,
  addresses: readonly string[],
  network: MediaNetwork,
  time: ConnectionTime,
): Promise<Socket> {
  const socket = await dialFirst(addresses.slice(0, TRIED), portOf(url), network, time);
  if (url.protocol === 'http:') return socket;
  const host = hostOf(url);
  const secure = connectTls({
    socket,
    host,
    // SNI must not contain an IP address (RFC 6066 section 3).
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(network.authorities === undefined ? {} : { ca: [...network.authorities] }),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  });
  secure.once('close', () => socket.destroy());
  return ready(secure, 'secureConnect', time);
}

async function dialFirst(
  addresses: readonly string[],
  port: number,
  network: MediaNetwork,
  time: ConnectionTime,
): Promise<Socket> {
  for (const address of addresses) {
    if (time.signal.aborted) break;
    const socket = network.dial(address, port);
    const stop = time.after(ATTEMPT_MS, () => socket.destroy(new Error('no answer')));
    try {
      return await ready(socket, 'connect', time);
    } catch {
      socket.destroy();
    } finally {
      stop();
    }
  }
  throw new MediaRefusedError('the host does not answer');
}

/** Waits until a socket is connected. From then on the end of the fetch destroys it, and its errors reach only its reader. */
function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', time: ConnectionTime): Promise<S> {
  const end = () => socket.destroy();
  time.signal.addEventListener('abort', end);
  socket.once('close', () => time.signal.removeEventListener('abort', end));
  if (time.signal.aborted) end();
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.once(event, () => resolve(socket));
  });
}
