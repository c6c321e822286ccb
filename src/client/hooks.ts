import type {
  LoginHookCallList,
  LoginHookList,
  LoginHookRemoved,
  LoginHookTested,
  LoginHookView,
  LoginHookWithSecret,
} from '../hooks/login-hook.api.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';

/** A log-in hook to make. */
export interface LoginHookOrder {
  /** The log-in system that calls. */
  readonly kind: LoginHookView['kind'];
  /** The sender name of the codes. */
  readonly signature: string;
  /** The service that texts name, at most 64 characters. Default: none. */
  readonly name?: string | undefined;
  /** `sms` (the default), or the name of a messaging-app channel. */
  readonly channel?: string | undefined;
  /** The secret, if the log-in system makes it. Default: the service makes one. */
  readonly secret?: string | undefined;
  /** Default: 2 segments, and no limit of a day. */
  readonly limits?: { readonly max_segments?: number; readonly daily_units?: number | null } | undefined;
  /** For `generic`: where the call has its values, as JSON pointers. */
  readonly mapping?: NonNullable<LoginHookView['mapping']> | undefined;
  /** For `generic`: how the call is proved. Default: the header `Authorization` has the secret. */
  readonly proof?: NonNullable<LoginHookView['proof']> | undefined;
}

/** A new secret of a hook. */
export interface LoginHookRotation {
  /** The secret, if the log-in system makes it. Default: the service makes one. */
  readonly secret?: string | undefined;
  /** How many hours the old secret still proves calls, 0 to 168. Default 24. */
  readonly keep_hours?: number | undefined;
}

/** The hooks that log-in systems call with codes to send. */
export class LoginHookRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Makes a hook. Only this answer has the secret. */
  create(order: LoginHookOrder, options?: SendOptions): Promise<LoginHookWithSecret> {
    return this.#post([], order, options);
  }

  /** Returns all hooks, newest first. An account has at most 20. */
  list(options?: CallOptions): Promise<LoginHookList> {
    return this.#caller.json({ path: ['hooks'] }, options);
  }

  get(id: string, options?: CallOptions): Promise<LoginHookView> {
    return this.#caller.json({ path: ['hooks', id] }, options);
  }

  remove(id: string, options?: CallOptions): Promise<LoginHookRemoved> {
    return this.#caller.json({ method: 'DELETE', path: ['hooks', id], gone: { success: true } }, options);
  }

  /** Replaces the secret. The old one still proves calls for `keep_hours`. */
  rotate(id: string, order: LoginHookRotation = {}, options?: SendOptions): Promise<LoginHookWithSecret> {
    return this.#post([id, 'rotate'], order, options);
  }

  /** Accepts the calls of a disabled hook again. */
  enable(id: string, options?: SendOptions): Promise<LoginHookView> {
    return this.#post([id, 'enable'], undefined, options);
  }

  /** Refuses the calls of a hook. */
  disable(id: string, options?: SendOptions): Promise<LoginHookView> {
    return this.#post([id, 'disable'], undefined, options);
  }

  /** Sends a made-up code to a number, as a call of the log-in system would. It is charged. */
  test(id: string, order: { readonly number: string }, options?: SendOptions): Promise<LoginHookTested> {
    return this.#post([id, 'test'], order, options);
  }

  /** Returns the last 50 calls of a hook, newest first. */
  calls(id: string, options?: CallOptions): Promise<LoginHookCallList> {
    return this.#caller.json({ path: ['hooks', id, 'calls'] }, options);
  }

  #post<T>(steps: readonly string[], body: object | undefined, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['hooks', ...steps], body, repeat: 'keyed' }, options);
  }
}
