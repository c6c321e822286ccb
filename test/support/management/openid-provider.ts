import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach } from '@jest/globals';
import { exportJWK, exportSPKI, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** An unusual answer. */
interface Instead {
  readonly status?: number;
  readonly body?: string;
  readonly location?: string;
  /** Whether an unsolicited `100 Continue` precedes it. */
  readonly continues?: boolean;
  /** Whether it is compressed, although nobody asked for that. */
  readonly packed?: boolean;
  /** Whether there is no answer. */
  readonly hangs?: boolean;
}

const open = new Set<OpenIdProvider>();

/** After each test, closes the providers that it has opened. Call it once in a suite's file. */
export function closeProvidersAfterEach(): void {
  afterEach(async () => {
    for (const provider of open) await provider.close();
    open.clear();
  });
}

/** An OpenID provider on the loopback interface, with keys that a test can change. */
export class OpenIdProvider {
  /** How often each path was requested. */
  readonly asked = new Map<string, number>();
  /** Answers that replace the usual ones, by path. */
  readonly instead = new Map<string, Instead>();
  private readonly keys = new Map<string, { readonly alg: string; readonly pair: GenerateKeyPairResult }>();

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    private readonly clock: { now(): number },
  ) {}

  /** With one key, `k1`, of ES256. */
  static async open(clock: { now(): number }): Promise<OpenIdProvider> {
    const server = createServer(async (request, response) => {
      const path = request.url ?? '';
      provider.asked.set(path, (provider.asked.get(path) ?? 0) + 1);
      const { status, body, location, hangs, continues, packed } = provider.instead.get(path) ?? {};
      if (hangs) return;
      const known = body === undefined ? await provider.document(path) : body;
      if (continues) response.writeContinue();
      response.writeHead(status ?? (known === undefined ? 404 : 200), {
        ...(location === undefined ? {} : { location }),
        ...(packed ? { 'content-encoding': 'gzip' } : {}),
      });
      response.end(packed ? gzipSync(known ?? '') : known);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const provider = new OpenIdProvider(`http://127.0.0.1:${port}`, server, clock);
    open.add(provider);
    await provider.add('k1', 'ES256');
    return provider;
  }

  async add(kid: string, alg: string): Promise<void> {
    this.keys.set(kid, { alg, pair: await generateKeyPair(alg, { extractable: true }) });
  }

  remove(kid: string): void {
    this.keys.delete(kid);
  }

  /** A key as a text, which somebody might use as a secret. */
  publicText(kid = 'k1'): Promise<string> {
    return exportSPKI(this.key(kid).pair.publicKey);
  }

  /** A token for the audience `messaging`, changed by the claims, and without its key's name if `named` is false. */
  async token(claims: JWTPayload = {}, { kid = 'k1', named = true } = {}): Promise<string> {
    const { alg, pair } = this.key(kid);
    const now = Math.floor(this.clock.now() / 1000);
    return new SignJWT({ iss: this.issuer, aud: 'messaging', sub: 'awa', iat: now, exp: now + 300, ...claims })
      .setProtectedHeader({ alg, ...(named && { kid }) })
      .sign(pair.privateKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    // Already closed: that is an error, which does not matter.
    await new Promise((resolve) => this.server.close(resolve));
  }

  private key(kid: string) {
    const key = this.keys.get(kid);
    if (!key) throw new Error(`There is no key ${kid}.`);
    return key;
  }

  private async document(path: string): Promise<string | undefined> {
    if (path === '/.well-known/openid-configuration') {
      return JSON.stringify({ issuer: this.issuer, jwks_uri: `${this.issuer}/keys` });
    }
    if (path !== '/keys') return undefined;
    const keys = [...this.keys].map(async ([kid, { alg, pair }]) => ({
      ...(await exportJWK(pair.publicKey)),
      kid,
      alg,
    }));
    return JSON.stringify({ keys: await Promise.all(keys) });
  }
}
