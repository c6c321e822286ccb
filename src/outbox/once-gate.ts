import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { onceId, type StoredReply } from './decide.js';
import type { Acceptance } from './outbox.js';
import { OutboxStore } from './outbox-store.js';
import type { OnceKey } from './send.js';

/** An Idempotency-Key as a caller gives it, with the request it stands for. */
export interface OnceRequest {
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
export class OnceGate {
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
    request: OnceRequest | undefined,
    work: (once?: OnceKey) => Promise<Acceptance>,
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
  private async keptUnder(once: OnceKey, key: KeyInUse, host?: HostTransaction): Promise<StoredReply | undefined> {
    for (;;) {
      const { ended } = key;
      // Nobody else may see what a host's open transaction sees.
      const kept = await (host ? this.store.replay(once, this.clock.now(), host) : this.sharedLookUp(once, key));
      if (kept || key.ended === ended) return kept;
    }
  }

  private sharedLookUp(once: OnceKey, key: KeyInUse): Promise<StoredReply | undefined> {
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

/** How much is hashed at a time, in characters: a few milliseconds of work. */
const HASHED_AT_ONCE = 262_144;

/** A piece of a JSON text: text as it is, or a part of a long string that is still to be quoted. */
interface Piece {
  readonly text: string;
  readonly quoted: boolean;
}

/**
 * SHA-256 of a JSON value with its keys in order: spacing and the order of fields make no difference. Other requests get their
 * turn while a long text is hashed; the work that cannot be interrupted grows with the number of values, which the edge bounds.
 */
export async function fingerprintOf(body: unknown): Promise<string> {
  const hash = createHash('sha256');
  for (const [at, { text, quoted }] of new OrderedJson(body).pieces.entries()) {
    if (at > 0) await setImmediate();
    hash.update(quoted ? text : JSON.stringify(text));
  }
  return hash.digest('hex');
}

/** The JSON text of a value as JSON.stringify would give it, but with its keys in order and long strings in several parts. */
class OrderedJson {
  readonly #pieces: Piece[] = [];
  #text = '';

  constructor(value: unknown) {
    this.#write(value);
    this.#flush();
  }

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  #write(value: unknown): void {
    if (typeof value === 'string') this.#writeString(value);
    else if (Array.isArray(value)) this.#writeArray(value);
    else if (typeof value !== 'object' || value === null) this.#add(JSON.stringify(value) ?? 'undefined');
    else if ('toJSON' in value && typeof value.toJSON === 'function') this.#write(value.toJSON());
    else this.#writeObject(value);
  }

  #writeArray(values: readonly unknown[]): void {
    let mark = '[';
    for (const value of values) {
      this.#add(mark);
      this.#write(value);
      mark = ',';
    }
    this.#add(values.length === 0 ? '[]' : ']');
  }

  #writeObject(value: object): void {
    const fields = new Map<string, unknown>(Object.entries(value));
    let mark = '{';
    for (const name of [...fields.keys()].sort()) {
      const field = fields.get(name);
      if (field === undefined) continue;
      this.#add(mark);
      this.#writeString(name);
      this.#add(':');
      this.#write(field);
      mark = ',';
    }
    this.#add(mark === '{' ? '{}' : '}');
  }

  #writeString(value: string): void {
    if (value.length <= HASHED_AT_ONCE) {
      this.#add(JSON.stringify(value));
      return;
    }
    this.#flush();
    for (let at = 0; at < value.length; at += HASHED_AT_ONCE) {
      this.#pieces.push({ text: value.slice(at, at + HASHED_AT_ONCE), quoted: false });
    }
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length >= HASHED_AT_ONCE) this.#flush();
  }

  #flush(): void {
    if (this.#text !== '') this.#pieces.push({ text: this.#text, quoted: true });
    this.#text = '';
  }
}
