import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import type { Clock } from '../../common/clock.js';
import { isRecord } from '../../common/options.js';
import { decodedContent } from '../../common/text/content-encoding.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';

/** How long keys are believed before they are asked for again, in milliseconds. */
const FRESH_MS = 10 * MINUTE_MS;
/** How long they are believed while the provider does not answer. */
const MAX_MS = HOUR_MS;
/** How often an unknown key has them asked for again, at most. */
const COOL_DOWN_MS = 30_000;
/**
 * How long after a failure they are asked for again. It doubles with each failure in a row: who asks waits for the provider up
 * to its two time-outs.
 */
const RETRY_MS = 30_000;
const MAX_RETRY_MS = 5 * MINUTE_MS;
/** How long the provider may take for one document. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;

/** Where a provider is, and what is accepted of it. */
export interface Provider {
  readonly issuer: string;
  /** Whether it may be on this machine, without TLS. */
  readonly loopback: boolean;
}

type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** Keys as they were at a moment of the clock's `elapsed`. */
interface LoadedKeys {
  readonly find: FindKey;
  readonly at: number;
}

/** The provider, or its documents, cannot be used. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
}

/**
 * The keys of an OpenID provider, from its discovery document. They are loaded with the first token, kept for ten minutes, and
 * loaded again for a key that is not among them, as a provider may begin to use a new one at any time.
 */
export class ProviderKeys {
  private loaded: LoadedKeys | undefined;
  private loading: Promise<LoadedKeys> | undefined;
  private failed: { readonly error: unknown; readonly at: number; readonly restMs: number } | undefined;

  constructor(
    private readonly provider: Provider,
    private readonly clock: Clock,
  ) {}

  /**
   * The key that has signed a token.
   * @throws errors of `jose` where there is none, `ProviderError` where the provider cannot be asked
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const keys = await this.current();
    try {
      return await keys.find(header, token);
    } catch (error) {
      const { errors } = await import('jose');
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || this.ageOf(keys) < COOL_DOWN_MS) throw error;
      return (await this.load()).find(header, token);
    }
  }

  private async current(): Promise<LoadedKeys> {
    const { loaded } = this;
    if (loaded === undefined) return this.load();
    const age = this.ageOf(loaded);
    if (age < FRESH_MS) return loaded;
    try {
      return await this.load();
    } catch (error) {
      if (age < MAX_MS) return loaded;
      throw error;
    }
  }

  private ageOf({ at }: { readonly at: number }): number {
    return this.clock.elapsed() - at;
  }

  /** Loads the keys, once for all who wait; for a while after a failure all are refused at once. */
  private load(): Promise<LoadedKeys> {
    const { failed } = this;
    if (failed && this.ageOf(failed) < failed.restMs) return Promise.reject(failed.error);
    this.loading ??= this.read()
      .then((keys) => {
        this.failed = undefined;
        this.loaded = keys;
        return keys;
      })
      .catch((error: unknown) => {
        const restMs = failed ? Math.min(2 * failed.restMs, MAX_RETRY_MS) : RETRY_MS;
        this.failed = { error, at: this.clock.elapsed(), restMs };
        throw error;
      })
      .finally(() => {
        this.loading = undefined;
      });
    return this.loading;
  }

  private async read(): Promise<LoadedKeys> {
    const at = this.clock.elapsed();
    const { issuer } = this.provider;
    const { createLocalJWKSet } = await import('jose');
    const discovery = await this.document(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (discovery.issuer !== issuer) throw new ProviderError('The discovery document names another issuer.');
    const { jwks_uri: uri } = discovery;
    if (typeof uri !== 'string') throw new ProviderError('The discovery document has no jwks_uri.');
    const set = await this.document(uri);
    if (!isKeySet(set)) throw new ProviderError('The keys of the provider are no JSON Web Key Set.');
    return { find: createLocalJWKSet(set), at };
  }

  private async document(address: string): Promise<Readonly<Record<string, unknown>>> {
    if (!isAllowed(address, this.provider.loopback)) throw new ProviderError('The address of a document is not https.');
    const abort = new AbortController();
    const cancel = this.clock.after(TIMEOUT_MS, () => abort.abort());
    try {
      const response = await answerOf(new URL(address), abort.signal);
      if (response.statusCode !== 200) throw new ProviderError(`The provider has answered ${response.statusCode}.`);
      const document: unknown = JSON.parse(await textOf(response));
      if (!isRecord(document)) throw new ProviderError('The document is no object.');
      return document;
    } catch (error) {
      throw error instanceof ProviderError
        ? error
        : new ProviderError('The OpenID provider does not answer.', { cause: error });
    } finally {
      cancel();
      abort.abort();
    }
  }
}

/**
 * Asks for a document; redirects are not followed. Node's own client ignores interim answers that it did not ask for, where
 * `fetch` ends the connection.
 */
function answerOf(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'nestjs-messaging' };
  return new Promise((resolve, reject) => {
    request(url, { signal, headers })
      .once('response', resolve)
      // Stays attached: the abort at the end is an error too.
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
  if (decoded === undefined)
    throw new ProviderError('The document is packed in a way that is not known, or too large.');
  return new TextDecoder().decode(decoded);
}

function isKeySet(set: object): set is JSONWebKeySet {
  return 'keys' in set && Array.isArray(set.keys) && set.keys.every(isRecord);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a document may be read there: by TLS, or on this machine where that is allowed. */
export function isAllowed(address: string, loopback: boolean): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (loopback && protocol === 'http:' && LOOPBACK.test(hostname));
}
