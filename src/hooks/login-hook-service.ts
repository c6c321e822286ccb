import { Injectable } from '@nestjs/common';
import type { Author } from '../accounts/audit/audit-entry.js';
import { SignatureDirectory } from '../accounts/signatures/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { IdGenerator, isId } from '../common/ids.js';
import { checkAccountId, checkInput } from '../common/inputs.js';
import type { IdempotencyKey } from '../outbox/accept/send.js';
import { Channels } from '../outbox/channel.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import type { Acceptance } from '../outbox/outbox.js';
import { LoginHookCallStore } from './calls/login-hook-call-store.js';
import { LoginHookCalls } from './calls/login-hook-calls.js';
import type {
  LoginHookCallList,
  LoginHookList,
  LoginHookRemoved,
  LoginHookTested,
  LoginHookView,
  LoginHookWithSecret,
} from './login-hook.api.js';
import type { LoginHook, LoginHookKey } from './login-hook.js';
import {
  definitionOf,
  givenSecret,
  keepMsOf,
  type LoginHookDraft,
  type LoginHookRotation,
} from './login-hook-input.js';
import { LoginHookSettings } from './login-hook-options.js';
import { LoginHookSecrets } from './login-hook-secrets.js';
import { type LoginHookAnswer, LoginHookStore } from './login-hook-store.js';
import { loginHookCallView, loginHookView, urlOf } from './login-hook-view.js';

/** The answer to a change. */
export interface LoginHookReply<T> {
  readonly reply: T;
  /** True: an earlier request with the same Idempotency-Key got this answer, and this request did nothing. */
  readonly replayed: boolean;
}

/** Options of the calls that change something. */
export interface LoginHookCallOptions {
  /** The change is made once, no matter how often this key comes within 24 hours. */
  readonly once?: IdempotentRequest | undefined;
  /** Who makes the change, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
  /** The URL of our routes, without a trailing slash, if the option `baseUrl` is not given. Default ''. */
  readonly base?: string | undefined;
}

/** A kept reply, from which the service can make the answer with the secret again. */
interface KeptReply {
  readonly view: LoginHookView;
  /** The secret, encrypted. */
  readonly sealed: string;
}

/**
 * Manages the hooks by which log-in systems send their codes through an account. Hosts can use it without our routes. It trusts
 * `accountId`. Every method that names a hook throws `error.login_hook_not_found` for a hook of another account. Every method can
 * throw `error.storage_unavailable`.
 */
@Injectable()
export class LoginHookService {
  constructor(
    private readonly store: LoginHookStore,
    private readonly callStore: LoginHookCallStore,
    private readonly calls: LoginHookCalls,
    private readonly secrets: LoginHookSecrets,
    private readonly signatures: SignatureDirectory,
    private readonly channels: Channels,
    private readonly idempotency: Idempotency,
    private readonly settings: LoginHookSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Makes a hook. Only this answer has its secret.
   * @throws MessagingError `error.field_missing`, `error.field_invalid`, `error.field_not_string`, `error.field_not_integer`,
   * `error.signature_refused`, `error.otp_channel_unknown`, `error.too_many_login_hooks`, `error.account_not_found`,
   * `error.idempotency_mismatch`, `error.idempotency_running`
   */
  async create(
    accountId: string,
    draft: LoginHookDraft,
    options: LoginHookCallOptions = {},
  ): Promise<LoginHookReply<LoginHookWithSecret>> {
    checkAccountId(accountId);
    const accepted = await this.idempotency.run(accountId, 'hooks', options.once, async (once) => {
      const definition = definitionOf(draft);
      const secret = givenSecret(definition.kind, draft.secret) ?? this.secrets.newSecret(definition.kind);
      if (!this.channels.find(definition.channel)?.draft) {
        throw new MessagingError('error.otp_channel_unknown', { channel: definition.channel.slice(0, 64) });
      }
      if (!(await this.signatures.isUsable(accountId, definition.signature))) {
        throw new MessagingError('error.signature_refused');
      }
      const id = this.ids.next();
      const versions = this.secrets.first(id, secret);
      const hook = { ...definition, id, accountId, versions, createdAt: this.clock.now() };
      return this.store.create(hook, answering(once), options.by);
    });
    return this.withSecret(accepted, options);
  }

  /** Lists all hooks of an account, newest first. An account has at most 20. */
  async list(accountId: string, { base }: Pick<LoginHookCallOptions, 'base'> = {}): Promise<LoginHookList> {
    checkAccountId(accountId);
    const hooks = await this.store.list(accountId);
    return { items: hooks.map((hook) => loginHookView(hook, this.baseOf(base))) };
  }

  /** Looks up a hook. */
  async get(accountId: string, id: string, { base }: Pick<LoginHookCallOptions, 'base'> = {}): Promise<LoginHookView> {
    return loginHookView(await this.find(keyOf(accountId, id)), this.baseOf(base));
  }

  /** Removes a hook. A call that is already running may still send its code. */
  async remove(
    accountId: string,
    id: string,
    { by }: Pick<LoginHookCallOptions, 'by'> = {},
  ): Promise<LoginHookRemoved> {
    if (!(await this.store.remove(keyOf(accountId, id), this.clock.now(), by))) throw notFound();
    return { success: true };
  }

  /**
   * Replaces the secret, by the one that is given or by a new one. The old secret still proves calls for `keep_hours`.
   * @throws MessagingError `error.field_invalid`, `error.field_not_string`, `error.field_not_integer`,
   * `error.idempotency_mismatch`, `error.idempotency_running`
   */
  async rotate(
    accountId: string,
    id: string,
    rotation: LoginHookRotation = {},
    options: LoginHookCallOptions = {},
  ): Promise<LoginHookReply<LoginHookWithSecret>> {
    const key = keyOf(accountId, id);
    const accepted = await this.idempotency.run(accountId, `hooks/${id}/rotate`, options.once, async (once) => {
      checkInput(rotation);
      const keepMs = keepMsOf(rotation.keep_hours);
      const { kind } = await this.find(key);
      const secret = givenSecret(kind, rotation.secret) ?? this.secrets.newSecret(kind);
      const now = this.clock.now();
      const rotated = await this.store.rotate(
        key,
        (versions) => this.secrets.rotated({ id, versions }, secret, now, keepMs),
        now,
        answering(once),
        options.by,
      );
      if (!rotated) throw notFound();
      return rotated;
    });
    return this.withSecret(accepted, options);
  }

  /** Accepts the calls of a disabled hook again. */
  enable(accountId: string, id: string, options: LoginHookCallOptions = {}): Promise<LoginHookReply<LoginHookView>> {
    return this.setStatus(accountId, id, 'enabled', options);
  }

  /** Refuses the calls of a hook until `enable`. */
  disable(accountId: string, id: string, options: LoginHookCallOptions = {}): Promise<LoginHookReply<LoginHookView>> {
    return this.setStatus(accountId, id, 'disabled', options);
  }

  /**
   * Sends a test code through a hook, as its log-in system would. It is charged.
   * @throws MessagingError the errors of `LoginHookCalls.send`
   */
  async test(
    accountId: string,
    id: string,
    { number }: { readonly number: string },
    options: LoginHookCallOptions = {},
  ): Promise<LoginHookReply<LoginHookTested>> {
    const key = keyOf(accountId, id);
    const accepted = await this.idempotency.keeping(accountId, `hooks/${id}/test`, options.once, async () => {
      const hook = await this.find(key);
      const message = await this.calls.test(hook, number);
      await this.store.recordTest(key, this.clock.now(), options.by);
      return { success: true, message };
    });
    return accepted as LoginHookReply<LoginHookTested>; // The lines above have made the reply.
  }

  /** Lists the last 50 calls of a hook, newest first. */
  async lastCalls(accountId: string, id: string): Promise<LoginHookCallList> {
    const hook = await this.find(keyOf(accountId, id));
    const calls = await this.callStore.list(accountId, hook.id);
    return { items: calls.map(loginHookCallView) };
  }

  private async setStatus(
    accountId: string,
    id: string,
    status: LoginHook['status'],
    options: LoginHookCallOptions,
  ): Promise<LoginHookReply<LoginHookView>> {
    const key = keyOf(accountId, id);
    const accepted = await this.idempotency.keeping(accountId, `hooks/${id}/${status}`, options.once, async () => {
      const hook = await this.store.setStatus(key, status, this.clock.now(), options.by);
      if (!hook) throw notFound();
      return loginHookView(hook, '');
    });
    return this.withUrl(accepted.reply as LoginHookView, accepted.replayed, options);
  }

  private async find({ accountId, id }: LoginHookKey): Promise<LoginHook> {
    const hook = await this.store.find(id);
    if (hook?.accountId !== accountId) throw notFound();
    return hook;
  }

  private withSecret(
    { reply, replayed }: Acceptance,
    options: LoginHookCallOptions,
  ): LoginHookReply<LoginHookWithSecret> {
    // `answering` has made the reply.
    const { view, sealed } = reply as KeptReply;
    const secret = this.secrets.open(view.id, { sealed }) ?? '';
    return { reply: { ...this.withUrl(view, replayed, options).reply, secret }, replayed };
  }

  /** Kept replies have no base URL, because a repeat may come by another one. */
  private withUrl(
    view: LoginHookView,
    replayed: boolean,
    { base }: LoginHookCallOptions,
  ): LoginHookReply<LoginHookView> {
    return { reply: { ...view, url: urlOf(this.baseOf(base), view.id) }, replayed };
  }

  private baseOf(given = ''): string {
    return this.settings.baseUrl ?? given;
  }
}

/** Makes the kept reply. It has the secret in encrypted form only. */
function answering(once: IdempotencyKey | undefined): LoginHookAnswer {
  return {
    once,
    replyOf: (hook): KeptReply => {
      const [version] = hook.versions;
      if (!version) throw new Error('The hook has no secret.');
      return { view: loginHookView(hook, ''), sealed: version.sealed };
    },
  };
}

/** @throws MessagingError `error.login_hook_not_found` for a malformed id */
function keyOf(accountId: string, id: string): LoginHookKey {
  checkAccountId(accountId);
  if (!isId(id)) throw notFound();
  return { accountId, id };
}

function notFound(): MessagingError {
  return new MessagingError('error.login_hook_not_found');
}
