import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** A proxy on the loopback interface that asks for Basic authentication, as nginx with `auth_basic` does. */
export interface BasicProxy {
  readonly url: string;
  /** How many requests came without the proxy's own credentials. */
  readonly refused: number;
  close(): Promise<void>;
}

/** The credentials that the proxy asks for. */
export const BASIC = { username: 'team', password: 'a password of the proxy' };

/**
 * Starts a proxy in front of a service.
 * @param passesOn whether the service sees the proxy's credentials; nginx passes them on, Traefik can remove them
 */
export async function startBasicProxy(target: string, passesOn: boolean): Promise<BasicProxy> {
  const wanted = `Basic ${Buffer.from(`${BASIC.username}:${BASIC.password}`).toString('base64')}`;
  let refused = 0;
  const server = createServer((incoming, outgoing) => {
    const { authorization, ...others } = incoming.headers;
    if (authorization !== wanted) {
      refused++;
      outgoing.writeHead(401, { 'www-authenticate': 'Basic realm="team"' }).end();
      return;
    }
    const headers = passesOn ? incoming.headers : others;
    const asked = request(`${target}${incoming.url}`, { method: incoming.method, headers, agent: false });
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    get refused() {
      return refused;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
