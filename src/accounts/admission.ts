import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { RateLimit } from '../common/concurrency/rate-limit.js';
import type { AccountState } from './account.api.js';
import { AccountDirectory } from './account-directory.js';
import { isWithin } from './address-ranges.js';
import { type Answer, UNAUTHORIZED } from './keys/authenticator.js';
import type { KnownKey } from './keys/key-directory.js';
import { KeyLastUse } from './keys/key-last-use.js';
import { isAtLeast, type Permission } from './keys/permissions.js';

/** The parts of a request that admission reads beside the credential. */
export interface AdmittedRequest {
  /** The request target of RFC 9112 section 3.2, with its query. */
  readonly target: string;
  /** The client's address according to the framework (`req.ip`); undefined if it is not known. */
  readonly ip: string | undefined;
  /** True: the request was admitted before and is still open, for example a stream, so it is not counted again. */
  readonly again?: boolean;
}

type Admitted = Answer & { readonly kind: 'caller' };

/** Decides whether an authenticated caller may use a route: the one guard behind all permissions. */
@Injectable()
export class Admission {
  /** Requests are counted by family, so that a key and the keys that replace it share one limit. */
  private readonly rates: RateLimit;

  constructor(
    private readonly accounts: AccountDirectory,
    private readonly lastUse: KeyLastUse,
    clock: Clock,
  ) {
    this.rates = new RateLimit(clock);
  }

  /**
   * Returns the answer of the authentication, or a refusal if the caller may not use the route. An operator who names
   * an account in `?account=` becomes a caller of that account. Returns a promise only if the state of the account is
   * not in memory.
   *
   * @param permission the permission of the route; undefined on a route of the host, which every caller of an account
   * may use, but no operator
   */
  admit(answer: Answer, permission: Permission | undefined, request: AdmittedRequest): Answer | Promise<Answer> {
    if (answer.kind === 'refused') return answer;
    const { known, caller } = answer;
    if (known !== undefined) {
      return this.inState(answer, (state) => this.admitKey(answer, known, state, permission, request));
    }
    const admitted = permission === undefined ? admitToHost(answer) : admitUser(answer, permission, request);
    if (admitted.kind === 'refused') return admitted;
    const isOfAccount = caller.via === 'user-token' && caller.user?.operator === undefined;
    // Operators may still read closed accounts.
    if (!isOfAccount && admitted.caller.accountId !== caller.accountId) return this.toNamed(admitted, permission);
    if (!(isOfAccount || permission?.live)) return admitted;
    return this.inState(admitted, (state) => {
      if (isOfAccount && state === 'closed') return UNAUTHORIZED;
      return !permission?.live || isLive(state) ? admitted : SUSPENDED;
    });
  }

  /** Admits an operator's request for the account that `?account=` names, if the account exists. */
  private async toNamed(admitted: Admitted, permission: Permission | undefined): Promise<Answer> {
    const { accountId } = admitted.caller;
    if (!(await this.accounts.exists(accountId))) return refused('error.account_not_found');
    return !permission?.live || isLive(await this.accounts.stateOf(accountId)) ? admitted : SUSPENDED;
  }

  private inState({ caller }: Admitted, decide: (state: AccountState | undefined) => Answer): Answer | Promise<Answer> {
    const state = this.accounts.stateOf(caller.accountId);
    return state instanceof Promise ? state.then(decide) : decide(state);
  }

  private admitKey(
    answer: Admitted,
    { addresses, perMinute, key }: KnownKey,
    state: AccountState | undefined,
    permission: Permission | undefined,
    { ip, again }: AdmittedRequest,
  ): Answer {
    if (state === 'closed') return UNAUTHORIZED;
    if (addresses !== undefined && !isWithin(addresses, ip)) return refused('error.address_not_allowed');
    if (permission !== undefined) {
      const { scopes } = permission;
      if (scopes === undefined) return refused('error.user_required');
      if (key.scopes !== undefined && !scopes.every((scope) => key.scopes?.includes(scope))) {
        return refused('error.scope_missing');
      }
      if (permission.live && !isLive(state)) return SUSPENDED;
    }
    if (again) return answer;
    const wait = perMinute === undefined ? undefined : this.rates.exceeded(key.family, perMinute);
    if (wait !== undefined) return { kind: 'refused', code: 'error.key_rate', retryAfter: wait };
    this.lastUse.note(key.id);
    return answer;
  }
}

/** Refuses operators on a route of the host: such a route serves the caller's account, and an operator has none. */
function admitToHost(answer: Admitted): Answer {
  return answer.caller.user?.operator === undefined ? answer : refused('error.role_missing');
}

/** Checks the role of a user. An operator who names an account becomes a caller of that account. */
function admitUser(answer: Admitted, permission: Permission, { target }: AdmittedRequest): Answer {
  const { caller } = answer;
  const { user } = caller;
  const isOfAccount = caller.via === 'user-token' && user?.operator === undefined;
  // If `?account=` were ignored, the answer would be about another account than the one that was asked for.
  if (isOfAccount && namesAccount(target)) return refused('error.role_missing');
  if (user === undefined) {
    // A caller without a stored key comes from a test's own authenticator and is not restricted.
    const may = caller.via === 'user-token' ? permission.plain : permission.scopes !== undefined;
    if (may) return answer;
    return refused(caller.via === 'user-token' ? 'error.role_missing' : 'error.user_required');
  }
  if (user.operator === undefined) {
    const { role } = permission;
    return role !== undefined && isAtLeast(user.role, role) ? answer : refused('error.role_missing');
  }
  const { operator, accounts } = permission;
  if (operator === undefined || !isAtLeast(user.operator, operator)) return refused('error.role_missing');
  if (accounts === 'all') return answer;
  const accountId = accountIn(target);
  return accountId === undefined
    ? refused('error.account_unnamed')
    : { kind: 'caller', caller: { ...caller, accountId } };
}

/**
 * Whether an account may use routes that a suspended account may not. An unknown account passes here, because the
 * service refuses it.
 */
function isLive(state: AccountState | undefined): boolean {
  return state === undefined || state === 'active';
}

const SUSPENDED: Answer = { kind: 'refused', code: 'error.account_suspended' };

function refused(code: (Answer & { kind: 'refused' })['code']): Answer {
  return { kind: 'refused', code };
}

/** The account in the query of a request target, if it is named once. */
function accountIn(target: string): string | undefined {
  const named = accountsIn(target);
  return named.length === 1 && named[0] !== '' ? named[0] : undefined;
}

function namesAccount(target: string): boolean {
  return accountsIn(target).length > 0;
}

/** The values of `account` in the query of a request target. */
function accountsIn(target: string): readonly string[] {
  const query = target.indexOf('?');
  return query === -1 ? [] : new URLSearchParams(target.slice(query)).getAll('account');
}
