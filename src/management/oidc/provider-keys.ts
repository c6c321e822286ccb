import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { CryptoKey, createRemoteJWKSet, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import type { Clock } from '../../common/clock.js';
import { isRecord } from '../../common/options.js';
import { decodedContent } from '../../common/text/content-encoding.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';

/** How long keys are used before they are loaded again, in milliseconds. */
const FRESH_MS = 10 * MINUTE_MS;
/** How long keys are used while the provider does not answer, in milliseconds. */
const MAX_MS = HOUR_MS;
/** The shortest time between two loads because of an unknown key, in milliseconds. */
const COOL_DOWN_MS = 30_000;
/**
 * How long after a failure the keys are loaded again, in milliseconds. It doubles with each failure in a row, because each load
 * may make a caller wait for two time-outs.
 */
const RETRY_MS = 30_000;
const MAX_RETRY_MS = 5 * MINUTE_MS;
/** How long the provider may take for one document, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const NO_ANSWER = 'The OpenID provider does not answer.';

/** The address of a provider, and the algorithms that are accepted. */
export interface Provider {
  readonly issuer: string;
  /** Whether the provider may be on this machine, without TLS. */
  readonly loopback: boolean;
}

/** The provider, or its documents, cannot be used. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/**
 * The keys of an OpenID provider, from its discovery document. They are loaded with the first token, kept for ten minutes, and
 * loaded again for a key that is not among them, because a provider may begin to use a new key at any time.
 *
 * `createRemoteJWKSet` keeps the keys, selects a key and loads them once for all waiting callers. This class decides when they
 * are loaded, because jose measures time by a clock that may be set back, does not use old keys while the provider is away, and
 * does not wait longer after each failure.
 */
export class ProviderKeys {
  private keys: Promise<RemoteKeys> | undefined;
  /** When the keys were last loaded, by the clock's `elapsed`. */
  private loadedAt = Number.NEGATIVE_INFINITY;
  private failed: { readonly error: ProviderError; readonly at: number; readonly restMs: number } | undefined;

  constructor(
    private readonly provider: Provider,
    private readonly clock: Clock,
  ) {}

  /**
   * Finds the key that has signed a token.
   * @throws errors of `jose` if there is none, `ProviderError` if the provider cannot be asked
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    this.keys ??= this.create();
    const keys = await this.keys;
    if (this.ageOf(this.loadedAt) >= FRESH_MS) await this.refresh(keys);
    try {
      return await keys(header, token);
    } catch (error) {
      const { errors } = await import('jose');
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || this.ageOf(this.loadedAt) < COOL_DOWN_MS) throw error;
      await keys.reload();
      return keys(header, token);
    }
  }

  private async create(): Promise<RemoteKeys> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    return createRemoteJWKSet(new URL(this.provider.issuer), {
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: Number.POSITIVE_INFINITY,
      [customFetch]: async () => Response.json(await this.load()),
    });
  }

  /** Loads the keys again. If the provider does not answer, the known keys stay valid for an hour. */
  private async refresh(keys: RemoteKeys): Promise<void> {
    try {
      await keys.reload();
    } catch (error) {
      if (this.ageOf(this.loadedAt) >= MAX_MS) throw error;
    }
  }

  private ageOf(at: number): number {
    return this.clock.elapsed() - at;
  }

  /**
   * Loads the keys from the provider. For a while after a failure it does not ask the provider and throws the same failure again.
   */
  private async load(): Promise<JSONWebKeySet> {
    const { failed } = this;
    if (failed && this.ageOf(failed.at) < failed.restMs) throw failed.error;
    const at = this.clock.elapsed();
    try {
      const keys = await this.read();
      this.failed = undefined;
      this.loadedAt = at;
      return keys;
    } catch (cause) {
      const error = cause instanceof ProviderError ? cause : new ProviderError(NO_ANSWER, { cause });
      const restMs = failed ? Math.min(2 * failed.restMs, MAX_RETRY_MS) : RETRY_MS;
      this.failed = { error, at: this.clock.elapsed(), restMs };
      throw error;
    }
  }

  private async read(): Promise<JSONWebKeySet> {
    const { issuer } = this.provider;
    const discovery = await this.document(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (discovery.issuer !== issuer) throw new ProviderError('The discovery document names another issuer.');
    const { jwks_uri: uri } = discovery;
    if (typeof uri !== 'string') throw new ProviderError('The discovery document has no jwks_uri.');
    const set = await this.document(uri);
    if (!isKeySet(set)) throw new ProviderError('The keys of the provider are not a JSON Web Key Set.');
    return set;
  }

  private async document(address: string): Promise<Readonly<Record<string, unknown>>> {
    if (!isAllowed(address, this.provider.loopback)) throw new ProviderError('The address of a document is not https.');
    const abort = new AbortController();
    const cancel = this.clock.after(TIMEOUT_MS, () => abort.abort());
    try {
      const response = await answerOf(new URL(address), abort.signal);
      if (response.statusCode !== 200) throw new ProviderError(`The provider has answered ${response.statusCode}.`);
      const document: unknown = JSON.parse(await textOf(response));
      if (!isRecord(document)) throw new ProviderError('The document is not an object.');
      return document;
    } finally {
      cancel();
      abort.abort();
    }
  }
}

/**
 * Requests a document, without following redirects. It uses Node's own client, because that ignores unexpected interim answers,
 * and `fetch` ends the connection at one.
 */
function answerOf(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'nestjs-messaging' };
  return new Promise((resolve, reject) => {
    request(url, { signal, headers })
      .once('response', resolve)
      // This listener stays attached, because the abort at the end is an error too.
      .on('error', reject)
      // A protocol upgrade emits neither a response nor an error.
      .once('close', () => reject(new Error('The connection is closed.')))
      .end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new ProviderError('The document is too large.');
    chunks.push(chunk);
  }
  const decoded = decodedContent(Buffer.concat(chunks), response.headers['content-encoding'], MAX_BYTES);
  if (decoded === undefined) throw new ProviderError('The document has an unknown encoding, or is too large.');
  return new TextDecoder().decode(decoded);
}

function isKeySet(set: object): set is JSONWebKeySet {
  return 'keys' in set && Array.isArray(set.keys) && set.keys.every(isRecord);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a document may be read from an address: by TLS, or on this machine if that is allowed. */
export function isAllowed(address: string, loopback: boolean): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (loopback && protocol === 'http:' && LOOPBACK.test(hostname));
}
