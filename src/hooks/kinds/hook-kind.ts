import type { LoginHookDefinition } from '../login-hook.js';

/** A call as it arrived. */
export interface HookRequest {
  /** By their names in small letters. Repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The unparsed body. */
  readonly body: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What a call asks for. */
export interface HookOrder {
  /** The number as the caller wrote it. */
  readonly number: string;
  /** The code, if the call has no whole text. */
  readonly code?: string | undefined;
  /** The whole text. It is sent instead of a text of ours. */
  readonly text?: string | undefined;
  /** Calls with the same id are one call. Undefined: the call has no id of its own. */
  readonly id?: string | undefined;
  /** How many seconds the code is valid; undefined if the call does not say so. */
  readonly validFor?: number | undefined;
}

/** What the calls of one kind of log-in system look like. */
export interface HookKind {
  /** Makes a secret from random bytes, in the form in which the owner copies it into the log-in system. */
  secretOf(random: Buffer): string;
  /** Whether a secret that the owner gives can be used. */
  isSecret(given: string): boolean;
  /** Whether the call was made by somebody who knows one of the secrets. */
  isAuthentic(request: HookRequest, secrets: readonly string[], hook: Pick<LoginHookDefinition, 'proof'>): boolean;
  /** Reads the parsed body. Undefined if it has no number, or neither code nor text. */
  read(body: unknown, hook: Pick<LoginHookDefinition, 'mapping'>): HookOrder | undefined;
  /**
   * True: a refusal of an authentic call is an answer with the status 200 and the body `{ "error": { "http_code", "message" } }`.
   */
  readonly refusesInBody?: true;
  /** True: a body that comes again is the same call, because each call has a new code. */
  readonly bodyIsId?: true;
}
