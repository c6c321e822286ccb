import { Injectable } from '@nestjs/common';
import type { EarlierReply } from '../../accounts/account-records.js';
import { AccountService, type KeySummary } from '../../accounts/account-service.js';
import type { Author } from '../../accounts/audit/audit-entry.js';
import { type KeyPage, type KeyView, type NewKeyView } from '../../accounts/keys/key.api.js';
import type { KeyDraft } from '../../accounts/keys/key-definition.js';
import { type KeyChange, KeyRegistry, type MadeKey } from '../../accounts/keys/key-registry.js';
import type { KeyScope } from '../../accounts/keys/permissions.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { checkAccountId, checkInput } from '../../common/inputs.js';
import { cursorOf, momentOf, textOfCursor } from '../../common/listing/list-query.js';
import { checkCallOptions } from '../../common/options.js';
import { HOUR_MS } from '../../common/time.js';
import { dayOf } from '../../outbox/accept/decide.js';
import { Idempotency, type IdempotentRequest } from '../../outbox/idempotency.js';
import type { Acceptance } from '../../outbox/outbox.js';
import { OutboxStore } from '../../outbox/outbox-store.js';
import { keyView } from './key-view.js';

/** The rights and limits of a new key, in the form of the API. Null counts as absent. */
export interface NewKeyDraft {
  /** A name for people: 1 to 128 characters, not blank. */
  readonly name: string;
  /** The scopes of the key, at least one. Default: all. */
  readonly scopes?: readonly KeyScope[] | null | undefined;
  /** The addresses from which the key may be used, IPv4 and IPv6, single or in CIDR notation: 1 to 50. Default: all. */
  readonly cidrs?: readonly string[] | null | undefined;
  /** When the key expires, in the future, ISO 8601. Default: never. */
  readonly expires_at?: string | null | undefined;
  /** How many units the key may spend on a day (UTC), together with the keys that replace it: 1 to 10^12. Default: no cap. */
  readonly daily_units?: number | null | undefined;
  /** How many requests per minute the key may make in each process: 1 to 1 000 000. Default: no limit. */
  readonly per_minute?: number | null | undefined;
  /** The only numbers that the key may send to, E.164 digits without the plus sign: 1 to 100. Default: all. */
  readonly recipients?: readonly string[] | null | undefined;
  /** A send that costs more units than this is refused until it is confirmed: 0 to 10^12. Default: none is. */
  readonly confirm_above?: number | null | undefined;
}

/** Options of the calls that change something. */
export interface KeyCallOptions {
  /**
   * The change is made once, no matter how often this Idempotency-Key comes within 24 hours. Only the first answer has the API
   * key itself.
   */
  readonly once?: IdempotentRequest | undefined;
  /** Who makes the change, for the audit log. Default: the host's own code. */
  readonly by?: Author | undefined;
}

/** The answer to a call that makes a key. */
export interface NewKeyAnswer {
  readonly reply: NewKeyView;
  /** True: an earlier request with the same Idempotency-Key got this answer, and this request did nothing. */
  readonly replayed: boolean;
}

/** The page of a listing to read. */
export interface KeyListQuery {
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export const MAX_GRACE_HOURS = 8760;
const DEFAULT_PAGE = 50;
const MAX_PAGE = 500;
const WORDS: Partial<Record<keyof KeyDraft, string>> = {
  expiresAt: 'expires_at',
  dailyUnits: 'daily_units',
  perMinute: 'per_minute',
  confirmAbove: 'confirm_above',
};

/**
 * Manages the API keys of accounts. Hosts can use it without our routes. It trusts `accountId`. Every method that names a key
 * throws `error.key_not_found` for a key of another account. Every method can throw `error.storage_unavailable`.
 *
 * @example
 * ```ts
 * const { reply } = await keys.create('shop', { name: 'Till', scopes: ['sms:send'], daily_units: 500 });
 * const { key } = reply; // shown once
 * ```
 */
@Injectable()
export class KeyService {
  constructor(
    private readonly registry: KeyRegistry,
    private readonly accounts: AccountService,
    private readonly outbox: OutboxStore,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  /**
   * Lists the keys of an account, valid or not, newest first.
   * @throws MessagingError `error.account_not_found`, `error.invalid_cursor`, `error.field_not_integer` for an invalid limit
   */
  async list(accountId: string, { limit = DEFAULT_PAGE, cursor }: KeyListQuery = {}): Promise<KeyPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
      throw new MessagingError('error.field_not_integer', { field: 'limit', min: 1, max: MAX_PAGE });
    }
    const after = cursor == null ? undefined : textOfCursor(cursor, isKeyId);
    const { items, next } = await this.accounts.listKeys(accountId, { limit, after });
    const viewOf = await this.viewer(items);
    return { items: items.map(viewOf), next_cursor: cursorOf(next) };
  }

  /**
   * Makes a key. Only this answer has the key in clear text.
   * @throws MessagingError `error.account_not_found`, `error.field_missing`, `error.field_invalid`, `error.field_not_string`,
   * `error.field_not_list`, `error.field_not_integer`, `error.idempotency_mismatch`, `error.idempotency_running`
   */
  create(accountId: string, draft: NewKeyDraft, options: KeyCallOptions = {}): Promise<NewKeyAnswer> {
    return this.run(accountId, 'keys', options, async (change) => {
      checkInput(draft);
      const { name, scopes, cidrs, recipients, expires_at } = draft;
      const { daily_units: dailyUnits, per_minute: perMinute, confirm_above: confirmAbove } = draft;
      if (name == null) throw new MessagingError('error.field_missing', { field: 'name' });
      const expiresAt = momentOf('expires_at', expires_at ?? undefined);
      const given = { name, scopes, cidrs, expiresAt, dailyUnits, perMinute, recipients, confirmAbove };
      return this.registry.issue(accountId, given, change(await this.viewer([])));
    });
  }

  /**
   * Replaces a key by a new key with the same name, limits and family. The old key stays valid for `grace_hours`, 0 to 8760,
   * default 24, or until its own end if that is earlier.
   * @throws MessagingError `error.field_not_integer`, `error.idempotency_mismatch`, `error.idempotency_running`.
   * `error.key_not_found` also for a key that is no longer valid
   */
  async rotate(
    accountId: string,
    id: string,
    { grace_hours }: { readonly grace_hours?: number | null | undefined } = {},
    options: KeyCallOptions = {},
  ): Promise<NewKeyAnswer> {
    checkKeyId(id);
    return this.run(accountId, `keys/${id}/rotate`, options, async (change) => {
      const hours = grace_hours ?? 24;
      if (!Number.isInteger(hours) || hours < 0 || hours > MAX_GRACE_HOURS) {
        throw new MessagingError('error.field_not_integer', { field: 'grace_hours', min: 0, max: MAX_GRACE_HOURS });
      }
      const old = await this.registry.find(id, accountId);
      return this.registry.rotate(id, hours * HOUR_MS, accountId, change(await this.viewer([old])));
    });
  }

  /**
   * Revokes a key: at once on this instance, at most five seconds later on other instances. If the key is already revoked,
   * nothing happens.
   */
  async revoke(
    accountId: string,
    id: string,
    options: Pick<KeyCallOptions, 'by'> = {},
  ): Promise<{ readonly success: true }> {
    const { by } = checkCallOptions('a revocation', options, 'by');
    checkAccountId(accountId);
    checkKeyId(id);
    await this.registry.revoke(id, accountId, by);
    return { success: true };
  }

  /** Makes a key once, and keeps the reply without the key. */
  private async run(
    accountId: string,
    route: string,
    options: KeyCallOptions,
    work: (change: (viewOf: ViewOf) => KeyChange) => Promise<MadeKey | EarlierReply>,
  ): Promise<NewKeyAnswer> {
    const { once: request, by } = checkCallOptions('a key', options, 'once', 'by');
    checkAccountId(accountId);
    const answer = await this.idempotency.run(accountId, route, request, async (once): Promise<Acceptance> => {
      const wordOf = (field: keyof KeyDraft) => WORDS[field] ?? field;
      const made = await work((viewOf) => ({
        by,
        wordOf,
        answer: { once, replyOf: (key) => ({ ...viewOf(key), key: null }) },
      }));
      return 'key' in made ? { reply: { ...made.reply, key: made.key }, replayed: false } : { ...made, replayed: true };
    });
    // `viewer` has made the answer, and it is kept unchanged.
    return answer as NewKeyAnswer;
  }

  /** Returns a function that shows keys, with the units that their families have spent today. */
  private async viewer(keys: readonly KeySummary[]): Promise<ViewOf> {
    const now = this.clock.now();
    const families = keys.flatMap((key) => (key.dailyUnits === undefined ? [] : [familyOf(key)]));
    const spent = families.length === 0 ? NOTHING : await this.outbox.keySpending([...new Set(families)], dayOf(now));
    return (key) => keyView(key, spent.get(familyOf(key)) ?? 0, now);
  }
}

type ViewOf = (key: KeySummary) => KeyView;

const NOTHING: ReadonlyMap<string, number> = new Map();

function familyOf({ id, family = id }: KeySummary): string {
  return family;
}

const KEY_ID = /^[\w-]{1,64}$/;

function isKeyId(text: string): boolean {
  return KEY_ID.test(text);
}

/** @throws MessagingError `error.key_not_found` for a malformed id */
function checkKeyId(id: unknown): asserts id is string {
  if (typeof id !== 'string' || !isKeyId(id)) throw new MessagingError('error.key_not_found');
}
