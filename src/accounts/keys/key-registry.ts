import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { IdempotencyKey } from '../../common/idempotency-key.js';
import { IdGenerator } from '../../common/ids.js';
import { checkAccountId } from '../../common/inputs.js';
import { DAY_MS } from '../../common/time.js';
import { EventPublisher } from '../../events/event-publisher.js';
import {
  type EarlierReply,
  type KeptReply,
  type KeyDefinition,
  newKeyEventOf,
  revocationEvents,
  type StoredApiKey,
  UNRESTRICTED,
} from '../account-records.js';
import { AccountStore } from '../account-store.js';
import type { Author } from '../audit/audit-entry.js';
import { hashSecret, makeApiKey, parseApiKey } from './api-key.js';
import { type KeyDraft, keyDefinitionOf } from './key-definition.js';
import { KeyDirectory } from './key-directory.js';

const MAX_GRACE_MS = 365 * DAY_MS;

/** How a change of a key is made. */
export interface KeyChange {
  /** Who makes the change, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
  /** The host's open transaction that the change becomes part of. */
  readonly host?: HostTransaction | undefined;
  /**
   * Stores the reply under an Idempotency-Key. The reply must contain no secret. If an earlier reply is stored there,
   * nothing is changed, and the earlier reply is the result.
   */
  readonly answer?: {
    readonly once: IdempotencyKey | undefined;
    replyOf(key: StoredApiKey): object;
  };
  /** The name of a field in errors. */
  readonly wordOf?: (field: keyof KeyDraft) => string;
}

/** A new key: its clear text, which cannot be read again, its stored record, and the reply of `KeyChange.answer`. */
export interface MadeKey {
  readonly key: string;
  readonly stored: StoredApiKey;
  readonly reply: object | undefined;
}

/** Changes API keys in the store and in the cache of this process, and publishes the events of the changes. */
@Injectable()
export class KeyRegistry {
  constructor(
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly store: AccountStore,
    private readonly directory: KeyDirectory,
    private readonly events: EventPublisher,
  ) {}

  /** @throws MessagingError `error.account_not_found`, and as `keyDefinitionOf` */
  async issue(accountId: string, draft: KeyDraft, change: KeyChange = {}): Promise<MadeKey | EarlierReply> {
    const { host, by } = change;
    checkAccountId(accountId);
    const definition = keyDefinitionOf(draft, this.clock.now(), change.wordOf);
    if ((await this.store.findAccount(accountId, host)) === undefined) {
      throw new MessagingError('error.account_not_found');
    }
    const made = this.make({ ...definition, accountId, family: undefined });
    const reply = change.answer?.replyOf(made.stored);
    const added = await this.store.addKey(made.stored, host, by, keptReply(change, reply));
    if (typeof added === 'object') return added;
    if (!added) throw takenId();
    this.events.publish([newKeyEventOf(made.stored)], host);
    return { ...made, reply };
  }

  /**
   * @param graceMs how long the old key stays valid, 0 to 365 days
   * @param accountId the account that the key must belong to; undefined: any
   * @throws MessagingError `error.key_not_found`, also for a key that is no longer valid
   */
  async rotate(
    id: string,
    graceMs: number,
    accountId: string | undefined,
    change: Omit<KeyChange, 'host'> = {},
  ): Promise<MadeKey | EarlierReply> {
    const old = await this.find(id, accountId);
    const { family = id } = old;
    const made = this.make({ ...old, family });
    const reply = change.answer?.replyOf(made.stored);
    try {
      const kept = keptReply(change, reply);
      const earlier = await this.store.rotateKey(id, made.stored, made.stored.createdAt + graceMs, change.by, kept);
      if (earlier) return earlier;
    } finally {
      // The cache is cleared even after a storage error, because the change may have been committed.
      this.directory.forget(id);
    }
    this.events.publish([newKeyEventOf(made.stored, id)]);
    return { ...made, reply };
  }

  /**
   * @param accountId as for `rotate`
   * @throws MessagingError `error.key_not_found`
   */
  async revoke(id: string, accountId: string | undefined, by?: Author): Promise<void> {
    if (accountId !== undefined) await this.find(id, accountId);
    const at = this.clock.now();
    try {
      const key = await this.store.revokeKey(id, at, by);
      if (!key) throw new MessagingError('error.key_not_found');
      this.events.publish(revocationEvents(key, at));
    } finally {
      // The cache is cleared even after a storage error, because the change may have been committed.
      this.directory.forget(id);
    }
  }

  /** See `AccountService.importKey`. */
  async import(accountId: string, key: string, by?: Author): Promise<{ readonly id: string }> {
    const parsed = parseApiKey(key);
    if (parsed === undefined) throw new MessagingError('error.field_invalid', { field: 'key' });
    checkAccountId(accountId);
    if ((await this.store.findAccount(accountId)) === undefined) throw new MessagingError('error.account_not_found');
    const { id } = parsed;
    const stored = this.fresh(id, hashSecret(parsed.secret), { ...UNRESTRICTED, accountId });
    if (await this.store.addKey(stored, undefined, by)) this.events.publish([newKeyEventOf(stored)]);
    else {
      const known = await this.store.findKey(id);
      if (known?.accountId !== accountId || known.hash !== stored.hash) {
        throw new MessagingError('error.field_invalid', { field: 'key' });
      }
    }
    this.directory.forget(id);
    return { id };
  }

  /**
   * @param accountId as for `rotate`
   * @throws MessagingError `error.key_not_found`
   */
  async find(id: string, accountId: string | undefined): Promise<StoredApiKey> {
    const key = await this.store.findKey(id);
    if (key && (accountId === undefined || key.accountId === accountId)) return key;
    throw new MessagingError('error.key_not_found');
  }

  private make(definition: NewKey): Omit<MadeKey, 'reply'> {
    const { key, id, hash } = makeApiKey(this.ids);
    return { key, stored: this.fresh(id, hash, definition) };
  }

  private fresh(id: string, hash: string, { expiresAt, family, ...definition }: NewKey): StoredApiKey {
    const { accountId, name, scopes, cidrs, dailyUnits, perMinute, recipients, confirmAbove } = definition;
    return {
      id,
      accountId,
      hash,
      name,
      scopes,
      cidrs,
      dailyUnits,
      perMinute,
      recipients,
      confirmAbove,
      createdAt: this.clock.now(),
      expiresAt,
      revokedAt: undefined,
      family,
      usedAt: undefined,
    };
  }
}

type NewKey = Pick<StoredApiKey, 'accountId' | keyof KeyDefinition> &
  Partial<Pick<StoredApiKey, 'expiresAt' | 'family'>>;

/** @throws MessagingError `error.field_not_integer` */
export function checkGrace(graceMs: unknown): asserts graceMs is number {
  if (typeof graceMs === 'number' && Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= MAX_GRACE_MS) return;
  throw new MessagingError('error.field_not_integer', { field: 'graceMs', min: 0, max: MAX_GRACE_MS });
}

function keptReply({ answer }: KeyChange, reply: object | undefined): KeptReply | undefined {
  return answer?.once && reply && { once: answer.once, reply };
}

function takenId(): Error {
  return new Error('The id generator made the id of an existing key.');
}
