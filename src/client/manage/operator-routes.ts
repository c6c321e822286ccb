import type { Caller, CallOptions, SendOptions, StreamCallOptions } from '../caller.js';
import type { Listing } from '../listing.js';
import { type Done, SUCCESS } from './account-routes.js';
import type { AuditEntry, AuditQuery, OptOut, OptOutsQuery } from './account-types.js';
import type {
  CarrierRoute,
  Carriers,
  LedgerCheck,
  Link,
  LinkOrder,
  ManagedAccount,
  ManagedAccountsQuery,
  ManagedSession,
  ManagedSessionsQuery,
  ManagedSignature,
  Posting,
  PostingOrder,
  QueuePart,
  Queues,
  System,
} from './operator-types.js';

/** The routes for the operator's users, who manage all accounts. */
export class OperatorRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the accounts, newest first. */
  accounts(query?: ManagedAccountsQuery, options?: CallOptions): Listing<ManagedAccount> {
    return this.#caller.list(['manage', 'accounts'], query, options);
  }

  createAccount(
    order: { readonly id?: string | undefined; readonly name: string },
    options?: SendOptions,
  ): Promise<ManagedAccount> {
    return this.#post(['accounts'], order, options);
  }

  account(id: string, options?: CallOptions): Promise<ManagedAccount> {
    return this.#get(['accounts', id], options);
  }

  /** Changes an account. Fields that are left out stay as they are. With `low_balance: null` no event reports a low balance. */
  changeAccount(
    id: string,
    changes: { readonly name?: string | undefined; readonly low_balance?: number | null | undefined },
    options?: CallOptions,
  ): Promise<ManagedAccount> {
    return this.#caller.json({ method: 'PATCH', path: ['manage', 'accounts', id], body: changes }, options);
  }

  /** Suspends an account: it can no longer send. Messages that it has already sent are still delivered. */
  suspendAccount(id: string, options?: SendOptions): Promise<ManagedAccount> {
    return this.#post(['accounts', id, 'suspend'], {}, options);
  }

  resumeAccount(id: string, options?: SendOptions): Promise<ManagedAccount> {
    return this.#post(['accounts', id, 'resume'], {}, options);
  }

  closeAccount(id: string, options?: SendOptions): Promise<ManagedAccount> {
    return this.#post(['accounts', id, 'close'], {}, options);
  }

  topUp(id: string, order: PostingOrder, options?: SendOptions): Promise<Posting> {
    return this.#post(['accounts', id, 'topups'], order, options);
  }

  adjust(id: string, order: PostingOrder, options?: SendOptions): Promise<Posting> {
    return this.#post(['accounts', id, 'adjustments'], order, options);
  }

  link(order: LinkOrder, options?: SendOptions): Promise<Link> {
    return this.#post(['links'], order, options);
  }

  signatures(
    query?: { readonly status?: ManagedSignature['status'] | undefined; readonly limit?: number | undefined },
    options?: CallOptions,
  ): Listing<ManagedSignature> {
    return this.#caller.list(['manage', 'signatures'], query, options);
  }

  verifySignature(account: string, name: string, options?: SendOptions): Promise<ManagedSignature> {
    return this.#post(['accounts', account, 'signatures', name, 'verify'], {}, options);
  }

  rejectSignature(
    account: string,
    name: string,
    order: { readonly reason: string },
    options?: SendOptions,
  ): Promise<ManagedSignature> {
    return this.#post(['accounts', account, 'signatures', name, 'reject'], order, options);
  }

  /** Lists the carrier routes of the process that answers. */
  carriers(options?: CallOptions): Promise<Carriers> {
    return this.#get(['carriers'], options);
  }

  restCarrier(route: string, options?: SendOptions): Promise<CarrierRoute> {
    return this.#post(['carriers', route, 'rest'], {}, options);
  }

  resumeCarrier(route: string, options?: SendOptions): Promise<CarrierRoute> {
    return this.#post(['carriers', route, 'resume'], {}, options);
  }

  queues(options?: CallOptions): Promise<Queues> {
    return this.#get(['queue'], options);
  }

  pause(part: QueuePart, options?: SendOptions): Promise<Queues> {
    return this.#post(['queue', 'pause'], part, options);
  }

  resume(part: QueuePart, options?: SendOptions): Promise<Queues> {
    return this.#post(['queue', 'resume'], part, options);
  }

  /** Starts a check of the books of all accounts, in the background. */
  checkLedger(options?: SendOptions): Promise<Pick<LedgerCheck, 'id' | 'state'>> {
    return this.#post(['ledger', 'check'], {}, options);
  }

  ledgerCheck(options?: CallOptions): Promise<LedgerCheck> {
    return this.#get(['ledger', 'check'], options);
  }

  /** Returns the progress of the last check, step by step, until the check has ended. */
  async *watchLedgerCheck(options?: StreamCallOptions): AsyncGenerator<LedgerCheck, void> {
    const path = ['manage', 'ledger', 'check', 'stream'];
    for await (const { data } of this.#caller.events({ path }, options)) {
      const check: LedgerCheck = JSON.parse(data);
      yield check;
      if (check.state !== 'running') return;
    }
  }

  /** Lists linked numbers, and attempts to link a number, newest first. */
  sessions(query?: ManagedSessionsQuery, options?: CallOptions): Listing<ManagedSession> {
    return this.#caller.list(['manage', 'sessions'], query, options);
  }

  unlink(id: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['sessions', id], options);
  }

  system(options?: CallOptions): Promise<System> {
    return this.#get(['system'], options);
  }

  /** Lists opt-outs that apply to all accounts, newest first. */
  optOuts(query?: OptOutsQuery, options?: CallOptions): Listing<OptOut> {
    return this.#caller.list(['manage', 'optouts'], query, options);
  }

  /** Adds opt-outs that apply to all accounts. */
  addOptOuts(
    order: { readonly signature: string; readonly numbers: readonly string[] },
    options?: SendOptions,
  ): Promise<{ readonly added: number }> {
    return this.#post(['optouts'], order, options);
  }

  removeOptOut(id: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['optouts', id], options);
  }

  /** Lists the changes in the audit log, newest first. */
  audit(query?: AuditQuery & { readonly account?: string | undefined }, options?: CallOptions): Listing<AuditEntry> {
    return this.#caller.list(['manage', 'audit'], query, options);
  }

  #remove(steps: readonly string[], options?: CallOptions): Promise<Done> {
    return this.#caller.json({ method: 'DELETE', path: ['manage', ...steps], gone: SUCCESS }, options);
  }

  #get<T>(steps: readonly string[], options?: CallOptions): Promise<T> {
    return this.#caller.json({ path: ['manage', ...steps] }, options);
  }

  #post<T>(steps: readonly string[], body: object, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['manage', ...steps], body, repeat: 'keyed' }, options);
  }
}
