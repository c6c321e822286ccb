import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { onceId, type StoredReply } from '../common/idempotency-key.js';
import { DAY_MS } from '../common/time.js';
import type { IdempotencyKey } from './accept/send.js';
import type { Acceptance } from './outbox.js';
import { OutboxStore } from './outbox-store.js';

/** An Idempotency-Key as the caller sent it, with the request that it identifies. */
export interface IdempotentRequest {
  readonly key: string;
  /** The parsed body of the request. */
  readonly body: unknown;
}

/** How long a reply is kept: 24 hours. */
const KEPT_MS = DAY_MS;

/** The state of a key while requests with it are in this process. */
interface KeyInUse {
  requests: number;
  /** Whether the `work` of one of these requests is running. */
  working: boolean;
  /** How often a `work` has ended. */
  ended: number;
  /** A look-up in progress. The requests that need it share it. */
  lookUp: Promise<StoredReply | undefined> | undefined;
}

/**
 * Executes a request with an Idempotency-Key once and replays its reply to repeats within 24 hours (`docs/http-api.md`, Idempotency).
 *
 * @example
 * ```ts
 * const { reply, replayed } = await idempotency.run(accountId, 'send/fax', { key, body }, (once) =>
 *   outbox.accept({ ...send, ...(once && { once }) }),
 * );
 * ```
 */
@Injectable()
export class Idempotency {
  private readonly keys = new Map<string, KeyInUse>();

  constructor(
    private readonly store: OutboxStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `work`, which must pass its argument `once` to `Outbox.accept`. A repeat gets the stored reply without running
   * `work`. Without `request`, `work` always runs. With `host`, the stored reply is read in its open transaction.
   *
   * @param route the name of the operation; the same key may be used with another one
   * @throws MessagingError `error.idempotency_running` while the `work` of another request with the key runs in this process,
   *   `error.idempotency_mismatch` for another body, `error.storage_unavailable`
   * @throws any error of `work`
   */
  async run(
    accountId: string,
    route: string,
    request: IdempotentRequest | undefined,
    work: (once?: IdempotencyKey) => Promise<Acceptance>,
    host?: HostTransaction,
  ): Promise<Acceptance> {
    if (!request) return work();
    const fingerprint = await fingerprintOf(request.body);
    const once = { accountId, route, key: request.key, fingerprint, expiresAt: this.clock.now() + KEPT_MS };
    const id = onceId(once);
    const key = this.keys.get(id) ?? { requests: 0, working: false, ended: 0, lookUp: undefined };
    this.keys.set(id, key);
    key.requests++;
    try {
      // This is checked before the storage is read, because the first request may have locked rows that the read would
      // wait for.
      checkFree(key);
      const kept = await this.keptUnder(once, key, host);
      if (!kept) return await workAlone(key, () => work(once));
      if (kept.fingerprint !== fingerprint) throw new MessagingError('error.idempotency_mismatch');
      // Each request gets a copy. If a host changes its reply, other requests that shared the look-up must not see the
      // changes.
      return { reply: structuredClone(kept.reply), replayed: true };
    } finally {
      key.requests--;
      if (key.requests === 0) this.keys.delete(id);
    }
  }

  /**
   * As `run`, for a change that may be made twice. It is made twice if the process crashes before its reply is stored.
   * The body is stored before the change. So in all processes, a request with the same key and another body is refused
   * before it changes anything. If the change itself is refused, the key can be used again.
   *
   * @param work makes the change; its reply must contain no secret
   * @throws MessagingError as `run`
   */
  keeping<T extends object>(
    accountId: string,
    route: string,
    request: IdempotentRequest | undefined,
    work: () => Promise<T>,
  ): Promise<Acceptance> {
    return this.run(accountId, route, request, async (once) => {
      if (!once) return { reply: await work(), replayed: false };
      const reply = await this.afterBody(once, work);
      const earlier = await this.keep(once, reply);
      return earlier ? { reply: earlier.reply, replayed: true } : { reply, replayed: false };
    });
  }

  /**
   * Stores the fingerprint of the body under a route of its own, then runs `work`. The route is hashed, because it
   * contains names from the caller of any length.
   */
  private async afterBody<T>(once: IdempotencyKey, work: () => Promise<T>): Promise<T> {
    const body = { ...once, route: `body:${createHash('sha256').update(once.route).digest('base64url')}` };
    const earlier = await this.keep(body, {});
    try {
      return await work();
    } catch (error) {
      // The stored body is removed only if this request has stored it and was refused. If another request has stored
      // it, that request may have made the change. After any other error, this request may have made the change.
      const isRefused = error instanceof MessagingError && !(error instanceof StorageUnavailableError);
      if (isRefused && !earlier) await this.store.forget(body).catch(() => undefined);
      throw error;
    }
  }

  private async keep(once: IdempotencyKey, reply: object): Promise<StoredReply | undefined> {
    const earlier = await this.store.keep(once, reply, this.clock.now());
    if (earlier && earlier.fingerprint !== once.fingerprint) throw new MessagingError('error.idempotency_mismatch');
    return earlier;
  }

  /**
   * Reads the stored reply. A miss is read again if a `work` has ended meanwhile, because that may have stored the
   * reply.
   */
  private async keptUnder(
    once: IdempotencyKey,
    key: KeyInUse,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined> {
    for (;;) {
      const { ended } = key;
      // A look-up within a host's transaction is not shared: other requests must not see uncommitted replies.
      const kept = await (host ? this.store.replay(once, this.clock.now(), host) : this.sharedLookUp(once, key));
      if (kept || key.ended === ended) return kept;
    }
  }

  private sharedLookUp(once: IdempotencyKey, key: KeyInUse): Promise<StoredReply | undefined> {
    if (key.lookUp) return key.lookUp;
    const lookUp = this.store.replay(once, this.clock.now()).finally(() => {
      if (key.lookUp === lookUp) key.lookUp = undefined;
    });
    key.lookUp = lookUp;
    return lookUp;
  }
}

function checkFree({ working }: KeyInUse): void {
  if (working) throw new MessagingError('error.idempotency_running', {}, 1);
}

async function workAlone(key: KeyInUse, work: () => Promise<Acceptance>): Promise<Acceptance> {
  checkFree(key);
  key.working = true;
  try {
    return await work();
  } finally {
    key.working = false;
    key.ended++;
    // A look-up in progress may have read before this reply was stored.
    key.lookUp = undefined;
  }
}

/** How many characters are serialized and hashed without a pause. That takes a few milliseconds. */
const CHUNK_LENGTH = 65_536;

/**
 * SHA-256 of a JSON value, serialized with sorted keys so that spacing and the order of fields do not matter. Yields to the
 * event loop between the chunks of a large value.
 */
export async function fingerprintOf(body: unknown): Promise<string> {
  const hash = createHash('sha256');
  let isFirst = true;
  for (const text of orderedJson(body)) {
    if (!isFirst) await setImmediate();
    isFirst = false;
    hash.update(text);
  }
  return hash.digest('hex');
}

/** A nested value, in contrast to a piece of text. */
interface Nested {
  readonly value: unknown;
}

/**
 * The JSON text of a value with sorted keys, in chunks. A long string is written as several strings. Keeps its own stack, so
 * that it can pause at any depth.
 */
function* orderedJson(body: unknown): Generator<string> {
  const stack: Iterator<string | Nested>[] = [[{ value: body }].values()];
  let text = '';
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const step = top.next();
    if (step.done) stack.pop();
    else if (typeof step.value === 'string') text += step.value;
    else {
      const value = asJson(step.value.value);
      if (typeof value === 'object' && value !== null) stack.push(stepsThrough(value));
      else if (typeof value !== 'string' || value.length <= CHUNK_LENGTH) text += JSON.stringify(value);
      else {
        yield text;
        text = '';
        for (let at = 0; at < value.length; at += CHUNK_LENGTH)
          yield JSON.stringify(value.slice(at, at + CHUNK_LENGTH));
      }
    }
    if (text.length >= CHUNK_LENGTH) {
      yield text;
      text = '';
    }
  }
  yield text;
}

function* stepsThrough(container: object): Generator<string | Nested> {
  if (Array.isArray(container)) {
    let separator = '[';
    for (const value of container) {
      yield separator;
      yield { value };
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
    return;
  }
  const fields = new Map<string, unknown>(Object.entries(container));
  let separator = '{';
  for (const name of [...fields.keys()].sort()) {
    const value = fields.get(name);
    if (value === undefined) continue;
    yield separator;
    yield { value: name };
    yield ':';
    yield { value };
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** The value that JSON.stringify writes. If there is a method `toJSON`, as on a Date, it is the result of that. */
function asJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value;
  const { toJSON } = value;
  return typeof toJSON === 'function' ? toJSON.call(value) : value;
}
