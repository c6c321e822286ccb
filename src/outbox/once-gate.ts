import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { onceId } from './decide.js';
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

/** Lets a request under an Idempotency-Key through once; see contract section 7. */
@Injectable()
export class OnceGate {
  private readonly running = new Set<string>();

  constructor(
    private readonly store: OutboxStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `work`, which is to pass the key it is given on to `Outbox.accept`. Without a request it simply runs. A repeat
   * answers before `work` checks or fetches anything. With `host`, what is kept is read in its open transaction.
   *
   * @throws MessagingError `error.idempotency_running` while the first is still running in this process,
   *   `error.idempotency_mismatch` for another body
   */
  async run(
    accountId: string,
    route: string,
    request: OnceRequest | undefined,
    work: (once?: OnceKey) => Promise<Acceptance>,
    host?: HostTransaction,
  ): Promise<Acceptance> {
    if (!request) return work();
    const now = this.clock.now();
    const fingerprint = fingerprintOf(request.body);
    const once = { accountId, route, key: request.key, fingerprint, expiresAt: now + KEPT_MS };
    const id = onceId(once);
    if (this.running.has(id)) throw new MessagingError('error.idempotency_running', {}, 1);
    this.running.add(id);
    try {
      const kept = await this.store.replay(once, now, host);
      if (!kept) return await work(once);
      if (kept.fingerprint !== fingerprint) throw new MessagingError('error.idempotency_mismatch');
      return { reply: kept.reply, replayed: true };
    } finally {
      this.running.delete(id);
    }
  }
}

/** SHA-256 of a JSON value with its keys in order: spacing and the order of fields make no difference. */
export function fingerprintOf(body: unknown): string {
  const ordered = JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256')
    .update(ordered ?? 'undefined')
    .digest('hex');
}
