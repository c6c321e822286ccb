import { Injectable } from '@nestjs/common';
import type { AccountState } from '../../../accounts/account.api.js';
import { ACCOUNT_STATES } from '../../../accounts/account.api.js';
import { checkAccountName, checkNewAccountId, checkThreshold } from '../../../accounts/account-rules.js';
import { LedgerService } from '../../../billing/ledger-service.js';
import { Clock } from '../../../common/clock.js';
import { MessagingError } from '../../../common/errors.js';
import { IdGenerator } from '../../../common/ids.js';
import { checkAccountId, checkInput, checkString, checkText, isAccountId } from '../../../common/inputs.js';
import { cursorOf } from '../../../common/listing/list-query.js';
import { Notifier, publishNotice } from '../../../common/notifier.js';
import type { IdempotencyKey } from '../../../outbox/accept/send.js';
import { Idempotency } from '../../../outbox/idempotency.js';
import type { Acceptance } from '../../../outbox/outbox.js';
import { type ListQuery, pageOf } from '../../list-query.js';
import { type OperatorCall, type OperatorCallOptions, operatorCall } from '../operator-call.js';
import { accountView, postingView } from './account-view.js';
import { type AccountPage, type AccountView } from './managed-account.api.js';
import { type AccountCall, type AccountChanges, ManagedAccountStore } from './managed-account-store.js';

/** A new account. */
export interface NewAccount {
  /** 1 to 64 of `A-Za-z0-9._-`. Default: generated. */
  readonly id?: string | null | undefined;
  /** 1 to 128 characters, not blank. */
  readonly name: string;
}

/** The changes of an account. Fields that are absent stay as they are. */
export interface AccountDraft {
  /** 1 to 128 characters, not blank. */
  readonly name?: string | null | undefined;
  /** Below this balance the event `balance.low` comes: an integer from 1 to 10^12, or 0 for no event. */
  readonly low_balance?: number | null | undefined;
}

/** Units to post. */
export interface PostingDraft {
  /** An integer. Anything else is refused, undefined too. */
  readonly units?: number | undefined;
  /** 1 to 64 characters. The same reference posts once. */
  readonly reference: string;
  readonly note?: string | null | undefined;
}

/** The filter of a listing. */
export interface AccountListQuery extends ListQuery {
  /** Only accounts whose id or name begins with this text. */
  readonly query?: string | undefined;
  readonly state?: string | undefined;
}

const KINDS = { topups: 'topup', adjustments: 'adjust' } as const;

/**
 * Manages the accounts of all customers, for operators. The audit log records each change. Every method that names an account can
 * throw `error.account_not_found`. Every method can throw `error.storage_unavailable`.
 *
 * @example
 * ```ts
 * await accounts.suspend(id, { by: { kind: 'operator', id: 'awa' } });
 * const { items } = await accounts.list({ state: 'suspended' });
 * ```
 */
@Injectable()
export class ManagedAccounts {
  constructor(
    private readonly store: ManagedAccountStore,
    private readonly ledger: LedgerService,
    private readonly idempotency: Idempotency,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** @throws MessagingError `error.account_exists`, `error.field_invalid`, `error.field_missing`, `error.field_not_string` */
  create(account: NewAccount, options: OperatorCallOptions = {}): Promise<Acceptance> {
    const call = operatorCall('an account', options);
    return this.run(call, 'manage/accounts', async (once) => {
      checkInput(account);
      const id = account.id ?? this.ids.next();
      checkNewAccountId(id);
      const name = nameOf(account.name);
      const stored = await this.store.create({ id, name, createdAt: this.clock.now() }, this.call(call, once));
      if (!stored) throw new MessagingError('error.account_exists');
      return stored;
    });
  }

  async get(id: string): Promise<AccountView> {
    const account = isAccountId(id) ? await this.store.find(id) : undefined;
    if (!account) throw new MessagingError('error.account_not_found');
    return accountView(account);
  }

  /**
   * Lists accounts, newest first. With `query`, accounts whose id begins with it come first, then accounts whose name begins with
   * it, in alphabetical order.
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`, `error.field_not_string`
   */
  async list({ query, state, ...listed }: AccountListQuery = {}): Promise<AccountPage> {
    const page = pageOf(listed, isAccountId);
    if (query !== undefined) checkText('query', query);
    const begins = query === '' ? undefined : query;
    const { items, next } = await this.store.list({ ...page, begins, state: stateOf(state) });
    return { items: items.map(accountView), next_cursor: cursorOf(next) };
  }

  /** Changes the name or the threshold. @throws MessagingError `error.field_invalid`, `error.field_not_integer`, `error.field_not_string` */
  async update(id: string, draft: AccountDraft, options: OperatorCallOptions = {}): Promise<AccountView> {
    const call = operatorCall('a change', options);
    checkInput(draft);
    const { name, low_balance } = draft;
    const changes = {
      ...(name == null ? {} : { name: nameOf(name) }),
      ...(low_balance == null ? {} : { lowBalance: thresholdOf(low_balance) }),
    };
    const { reply } = await this.change(id, changes, call);
    // `accountView` has made the reply.
    return reply as AccountView;
  }

  /**
   * Suspends an account: sends, connects and new endpoints are refused, in all processes within five seconds. Messages that were
   * accepted before are still delivered.
   */
  suspend(id: string, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.move(id, 'suspend', 'suspended', options);
  }

  /** Ends a suspension, or opens a closed account again. */
  resume(id: string, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.move(id, 'resume', 'active', options);
  }

  /**
   * Does the same as `suspend`, for an account that is no longer used. Its keys are not accepted either. The account and all its
   * data stay readable.
   */
  close(id: string, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.move(id, 'close', 'closed', options);
  }

  /**
   * Adds units to an account, once for each reference.
   * @throws MessagingError the errors of `LedgerService.topUp`, and `error.field_missing` without a reference
   */
  topUp(id: string, draft: PostingDraft, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.post(id, 'topups', draft, options);
  }

  /**
   * Corrects a balance up or down, once for each reference.
   * @throws MessagingError the errors of `LedgerService.adjust`, and `error.field_missing` without a reference
   */
  adjust(id: string, draft: PostingDraft, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.post(id, 'adjustments', draft, options);
  }

  private post(
    id: string,
    what: 'topups' | 'adjustments',
    draft: PostingDraft,
    options: OperatorCallOptions,
  ): Promise<Acceptance> {
    const call = operatorCall('a posting', options);
    checkAccountId(id);
    return this.run(call, `manage/accounts/${id}/${what}`, async (once) => {
      checkInput(draft);
      const { units = Number.NaN, reference, note } = draft;
      if (reference == null) throw new MessagingError('error.field_missing', { field: 'reference' });
      const posting = { reference, note: note ?? undefined, by: call.by };
      return this.ledger.postOnce(KINDS[what], id, units, posting, { once, replyOf: postingView });
    });
  }

  private move(id: string, what: string, state: AccountState, options: OperatorCallOptions): Promise<Acceptance> {
    const call = operatorCall('a change', options);
    checkAccountId(id);
    return this.run(call, `manage/accounts/${id}/${what}`, (once) => this.change(id, { state }, call, once));
  }

  private async change(
    id: string,
    changes: AccountChanges,
    call: OperatorCall,
    once?: IdempotencyKey,
  ): Promise<Acceptance> {
    checkAccountId(id);
    try {
      const changed = await this.store.change(id, changes, this.call(call, once));
      if (!changed) throw new MessagingError('error.account_not_found');
      return changed;
    } finally {
      // This also happens after a storage error, because the change may have been committed.
      if (changes.state !== undefined) publishNotice(this.notifier, 'account', id);
    }
  }

  private run(
    { scope, once }: OperatorCall,
    route: string,
    work: (once?: IdempotencyKey) => Promise<Acceptance>,
  ): Promise<Acceptance> {
    return this.idempotency.run(scope, route, once, work);
  }

  private call({ by }: OperatorCall, once: IdempotencyKey | undefined): AccountCall {
    return { by, at: this.clock.now(), once, replyOf: accountView };
  }
}

/** @throws MessagingError `error.field_missing`, `error.field_not_string`, `error.field_invalid` */
function nameOf(name: unknown): string {
  if (name == null) throw new MessagingError('error.field_missing', { field: 'name' });
  checkAccountName(name);
  return name;
}

function thresholdOf(units: unknown): number | null {
  checkThreshold('low_balance', units, 0);
  return units === 0 ? null : units;
}

function stateOf(state: unknown): AccountState | undefined {
  if (state === undefined) return undefined;
  checkString('state', state);
  const known = ACCOUNT_STATES.find((each) => each === state);
  if (known === undefined) throw new MessagingError('error.field_invalid', { field: 'state' });
  return known;
}
