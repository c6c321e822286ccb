import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SessionBindError } from './session-bind-error.js';
import type { SmppSessionSettings } from './session-settings.js';

/**
 * Begins to connect. `onReady` is called when octets can be sent: over TLS, once the peer's certificate is accepted.
 *
 * @throws SessionBindError when the settings make no connection: a certificate or key of ours that cannot be read, …
 */
export function connectSocket(settings: SmppSessionSettings, onReady: () => void): Socket {
  try {
    return begin(settings, onReady).setNoDelay(true);
  } catch (error) {
    throw new SessionBindError('the settings make no connection', undefined, { cause: error });
  }
}

function begin({ host, port, tls }: SmppSessionSettings, onReady: () => void): Socket {
  if (tls === undefined) return connect({ host, port }, onReady);
  // SNI takes names only (RFC 6066, section 3); an address is checked against the certificate without it.
  const { ca, servername = isIP(host) ? undefined : host, cert, key, rejectUnauthorized = true } = tls;
  return connectTls(
    {
      host,
      port,
      rejectUnauthorized,
      ...(servername !== undefined && { servername }),
      ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    },
    onReady,
  );
}
