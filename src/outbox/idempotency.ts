import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { onceId, type StoredReply } from './decide.js';
import type { Acceptance } from './outbox.js';
import { OutboxStore } from './outbox-store.js';
import type { IdempotencyKey } from './send.js';

/** An Idempotency-Key as a caller gives it, with the request it stands for. */
export interface IdempotentRequest {
  readonly key: string;
  /** The request's body as parsed. */
  readonly body: unknown;
}

/** How long a reply is kept. */
const KEPT_MS = 24 * 3_600_000;

/** What this process knows of a key while requests are here under it. */
interface KeyInUse {
  requests: number;
  /** Whether one of them does the work. */
  working: boolean;
  /** How many works have ended. */
  ended: number;
  /** The look-up under way that those who come now may share. */
  lookUp: Promise<StoredReply | undefined> | undefined;
}

/** Lets a request under an Idempotency-Key through once; see contract section 7. */
@Injectable()
export class Idempotency {
  private readonly keys = new Map<string, KeyInUse>();

  constructor(
    private readonly store: OutboxStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `work`, which is to pass the key it is given on to `Outbox.accept`. Without a request it simply runs. A repeat
   * answers before `work` checks or fetches anything. With `host`, what is kept is read in its open transaction.
   *
   * @throws MessagingError `error.idempotency_running` while another request under the key is at its work in this process,
   *   `error.idempotency_mismatch` for another body, `error.storage_unavailable`
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
      // Told without the storage, which may be what the first one waits for.
      checkFree(key);
      const kept = await this.keptUnder(once, key, host);
      if (!kept) return await workAlone(key, () => work(once));
      if (kept.fingerprint !== fingerprint) throw new MessagingError('error.idempotency_mismatch');
      // A copy for each: what a host does to its answer must not show in those of others.
      return { reply: structuredClone(kept.reply), replayed: true };
    } finally {
      key.requests--;
      if (key.requests === 0) this.keys.delete(id);
    }
  }

  /** What is kept. That nothing was is old news where a work has ended since: what it kept is not to be worked for again. */
  private async keptUnder(
    once: IdempotencyKey,
    key: KeyInUse,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined> {
    for (;;) {
      const { ended } = key;
      // Nobody else may see what a host's open transaction sees.
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
    // It may have read before this work was kept.
    key.lookUp = undefined;
  }
}

/** How much is written out and hashed at a time, in characters: a few milliseconds of work. */
const HASHED_AT_ONCE = 65_536;

/**
 * SHA-256 of a JSON value with its keys in order: spacing and the order of fields make no difference. Other requests get their
 * turn while a large value is hashed.
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

/** A value inside another one. */
interface Inner {
  readonly value: unknown;
}

/**
 * The JSON text of a value as JSON.stringify gives it but with keys in order, in pieces; a long string is several strings. With a
 * stack of its own, so that it can pause at any depth.
 */
function* orderedJson(body: unknown): Generator<string> {
  const open: Iterator<string | Inner>[] = [[{ value: body }].values()];
  let text = '';
  for (let within = open.at(-1); within !== undefined; within = open.at(-1)) {
    const step = within.next();
    if (step.done) open.pop();
    else if (typeof step.value === 'string') text += step.value;
    else {
      const value = asJson(step.value.value);
      if (typeof value === 'object' && value !== null) open.push(stepsThrough(value));
      else if (typeof value !== 'string' || value.length <= HASHED_AT_ONCE) text += JSON.stringify(value);
      else {
        yield text;
        text = '';
        for (let at = 0; at < value.length; at += HASHED_AT_ONCE)
          yield JSON.stringify(value.slice(at, at + HASHED_AT_ONCE));
      }
    }
    if (text.length >= HASHED_AT_ONCE) {
      yield text;
      text = '';
    }
  }
  yield text;
}

function* stepsThrough(container: object): Generator<string | Inner> {
  if (Array.isArray(container)) {
    let mark = '[';
    for (const value of container) {
      yield mark;
      yield { value };
      mark = ',';
    }
    yield mark === '[' ? '[]' : ']';
    return;
  }
  const fields = new Map<string, unknown>(Object.entries(container));
  let mark = '{';
  for (const name of [...fields.keys()].sort()) {
    const value = fields.get(name);
    if (value === undefined) continue;
    yield mark;
    yield { value: name };
    yield ':';
    yield { value };
    mark = ',';
  }
  yield mark === '{' ? '{}' : '}';
}

/** What JSON.stringify makes of a value that says so itself, for instance a Date. */
function asJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value;
  const { toJSON } = value;
  return typeof toJSON === 'function' ? toJSON.call(value) : value;
}
