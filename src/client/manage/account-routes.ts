import type { Caller, CallOptions, SendOptions } from '../caller.js';
import type { Listing } from '../listing.js';
import type {
  AuditEntry,
  AuditQuery,
  CodeFigures,
  Key,
  KeyOrder,
  KeyWithSecret,
  LedgerEntry,
  LedgerQuery,
  Me,
  OptOut,
  OptOutsQuery,
  Overview,
  PeriodQuery,
  Signature,
  Usage,
  UsageQuery,
} from './account-types.js';

export const SUCCESS = { success: true } as const;

/** The answer to every change that has no answer of its own. */
export type Done = typeof SUCCESS;

/** The keys, sender names, ledger and audit log of an account, for its users and for an operator who names the account. */
export class AccountRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Says who the caller is. If an operator names an account, the answer has that account too. */
  me(options?: CallOptions): Promise<Me> {
    return this.#caller.json({ path: ['me'] }, options);
  }

  overview(options?: CallOptions): Promise<Overview> {
    return this.#caller.json({ path: ['overview'] }, options);
  }

  codes(period?: PeriodQuery, options?: CallOptions): Promise<CodeFigures> {
    return this.#caller.json({ path: ['codes'], query: period }, options);
  }

  usage(query?: UsageQuery, options?: CallOptions): Promise<Usage> {
    return this.#caller.json({ path: ['usage'], query }, options);
  }

  /** Returns the sums of `usage` as a CSV file. */
  usageCsv(query?: UsageQuery, options?: CallOptions): Promise<Blob> {
    return this.#csv('usage', query, options);
  }

  /** Lists the entries of the ledger, newest first. */
  ledger(query?: LedgerQuery, options?: CallOptions): Listing<LedgerEntry> {
    return this.#caller.list(['ledger'], query, options);
  }

  /** Returns all entries of `ledger` as a CSV file. A large file may take longer than the default `timeoutMs`. */
  ledgerCsv(query?: Omit<LedgerQuery, 'limit'>, options?: CallOptions): Promise<Blob> {
    return this.#csv('ledger', query, options);
  }

  /** Lists the changes in the audit log, newest first. */
  audit(query?: AuditQuery, options?: CallOptions): Listing<AuditEntry> {
    return this.#caller.list(['audit'], query, options);
  }

  /** Lists the keys, newest first. */
  keys(query?: { readonly limit?: number | undefined }, options?: CallOptions): Listing<Key> {
    return this.#caller.list(['keys'], query, options);
  }

  /** Creates a key. Only this answer has the key itself. */
  createKey(order: KeyOrder, options?: SendOptions): Promise<KeyWithSecret> {
    return this.#post(['keys'], order, options);
  }

  /** Makes a key that replaces another key. The old key works for `grace_hours` more. Default 24. */
  rotateKey(
    id: string,
    order: { readonly grace_hours?: number | undefined } = {},
    options?: SendOptions,
  ): Promise<KeyWithSecret> {
    return this.#post(['keys', id, 'rotate'], order, options);
  }

  revokeKey(id: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['keys', id], options);
  }

  signatures(query?: { readonly limit?: number | undefined }, options?: CallOptions): Listing<Signature> {
    return this.#caller.list(['signatures'], query, options);
  }

  /** Asks for a sender name. An operator decides on it. */
  registerSignature(name: string, options?: SendOptions): Promise<Signature> {
    return this.#post(['signatures'], { name }, options);
  }

  /** Withdraws a sender name on which no operator has decided. */
  removeSignature(name: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['signatures', name], options);
  }

  /** Lists the opt-outs, newest first. */
  optOuts(query?: OptOutsQuery, options?: CallOptions): Listing<OptOut> {
    return this.#caller.list(['optouts'], query, options);
  }

  addOptOuts(
    order: { readonly signature: string; readonly numbers: readonly string[] },
    options?: SendOptions,
  ): Promise<{ readonly added: number }> {
    return this.#post(['optouts'], order, options);
  }

  removeOptOut(id: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['optouts', id], options);
  }

  #post<T>(path: readonly string[], body: object, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path, body, repeat: 'keyed' }, options);
  }

  #csv(list: string, query: object | undefined, options?: CallOptions): Promise<Blob> {
    const ask = { path: [list], query, accept: 'text/csv', large: true } as const;
    return this.#caller.read(ask, options, (response) => response.blob());
  }

  #remove(path: readonly string[], options?: CallOptions): Promise<Done> {
    return this.#caller.json({ method: 'DELETE', path, gone: SUCCESS }, options);
  }
}
