import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { AccountDirectory } from '../../accounts/account-directory.js';
import { Clock } from '../../common/clock.js';
import { RateLimit } from '../../common/concurrency/rate-limit.js';
import { MessagingError, StorageUnavailableError } from '../../common/errors.js';
import { IdGenerator, isId } from '../../common/ids.js';
import { formatInput } from '../../common/inputs.js';
import { type FaultLog, faultCode, faultLog } from '../../common/log.js';
import { countryOf, maskNumber } from '../../common/phone-numbers/phone-number.js';
import { readNumber } from '../../common/phone-numbers/read-number.js';
import { Sealer } from '../../common/sealer.js';
import { MINUTE_MS, SECOND_MS } from '../../common/time.js';
import { refusalEvent } from '../../events/account-events.js';
import { EventPublisher } from '../../events/event-publisher.js';
import { CODE_RULES } from '../../events/events.api.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import { Channels } from '../../outbox/channel.js';
import { Idempotency } from '../../outbox/idempotency.js';
import { type Acceptance, Outbox } from '../../outbox/outbox.js';
import { measure } from '../../sms/segmentation.js';
import { SMS } from '../../sms/sms-channel.js';
import { SmsSettings } from '../../sms/sms-options.js';
import { checkText } from '../../sms/sms-pricing.js';
import type { HookOrder, HookRequest } from '../kinds/hook-kind.js';
import { HOOK_KINDS } from '../kinds/index.js';
import type { LoginHook } from '../login-hook.js';
import { LoginHookSettings } from '../login-hook-options.js';
import { LoginHookSecrets } from '../login-hook-secrets.js';
import { LoginHookStore } from '../login-hook-store.js';
import { outcomeOf } from './call-outcome.js';
import { type HookAnswer, refusalAnswer, SUCCESS } from './hook-answer.js';
import { LoginCodes } from './login-code.js';
import { LoginCodePolicy } from './login-code-policy.js';
import { LoginHookCallStore } from './login-hook-call-store.js';

/** How many seconds a code is valid if the call does not say so. */
const VALID_SECONDS = 300;

/** How many calls with a wrong proof are recorded per hook and minute, so that a stranger cannot push out the other records. */
const RECORDED_STRANGERS = 5;

/** The digits of a test code. */
const TEST_DIGITS = 6;

/** Receives the calls of log-in systems and sends their codes. */
@Injectable()
export class LoginHookCalls implements OnApplicationBootstrap {
  private readonly log: FaultLog;
  private readonly strangers: RateLimit;
  /** The sends under way, by their Idempotency-Keys. */
  private readonly running = new Map<string, Promise<unknown>>();

  constructor(
    private readonly store: LoginHookStore,
    private readonly calls: LoginHookCallStore,
    private readonly secrets: LoginHookSecrets,
    private readonly codes: LoginCodes,
    private readonly sealer: Sealer,
    private readonly accounts: AccountDirectory,
    private readonly channels: Channels,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly settings: LoginHookSettings,
    private readonly publisher: EventPublisher,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    @Optional() private readonly sms?: SmsSettings,
  ) {
    this.log = faultLog('LoginHooks', clock);
    this.strangers = new RateLimit(clock);
  }

  /** Warns if codes reach real phones without limits. */
  onApplicationBootstrap(): void {
    const isSandbox = this.channels.all().every((channel) => channel.isSandbox || !channel.draft);
    if (isSandbox || this.settings.limits.preset !== 'none') return;
    new Logger('LoginHooks').warn(
      'hooks.limits is "none": a log-in system can send codes WITHOUT LIMIT. For sandboxes only.',
    );
  }

  /**
   * Receives a call. A refusal is an answer in the shape that the caller's kind expects.
   * @throws MessagingError `error.login_hook_not_found`
   * @throws any error that is a fault of ours
   */
  async receive(id: string, request: Omit<HookRequest, 'now'>): Promise<HookAnswer> {
    const hook = isId(id) ? await this.store.find(id) : undefined;
    const state = hook && (await this.accounts.stateOf(hook.accountId));
    if (!hook || state === 'closed') throw new MessagingError('error.login_hook_not_found');
    const now = this.clock.now();
    const call = { ...request, now };
    const kind = HOOK_KINDS[hook.kind];
    const secrets = this.secrets.secretsOf(hook, now);
    if (!kind.isAuthentic(call, secrets, hook)) {
      const refusal = new MessagingError('error.login_hook_refused');
      if (this.strangers.exceeded(hook.id, RECORDED_STRANGERS) === undefined) this.note(hook, now, refusal);
      return refusalAnswer(refusal, hook.kind, this.settings.catalogue, 'stranger');
    }
    let number: string | undefined;
    try {
      if (state === 'suspended') throw new MessagingError('error.account_suspended');
      if (hook.status === 'disabled') throw new MessagingError('error.login_hook_disabled');
      const order = kind.read(parsed(call.body), hook);
      if (!order) throw new MessagingError('error.login_hook_unreadable');
      number = this.numberOf(order.number);
      const { reply, replayed } = await this.once(hook, this.keyOf(hook, order, call), number, order);
      this.note(hook, now, replayed ? 'repeated' : 'accepted', number, replayed ? undefined : messageIn(reply));
      return SUCCESS;
    } catch (error) {
      this.note(hook, now, error, number);
      if (!(error instanceof MessagingError)) throw error;
      return refusalAnswer(error, hook.kind, this.settings.catalogue, 'caller');
    }
  }

  /**
   * Sends a random code to a number, as a call of the hook would. Returns the id of its message.
   * @throws MessagingError the errors of `send`, `error.account_suspended`, `error.login_hook_disabled`
   */
  async test(hook: LoginHook, written: unknown): Promise<string> {
    const now = this.clock.now();
    let number: string | undefined;
    try {
      if ((await this.accounts.stateOf(hook.accountId)) === 'suspended') {
        throw new MessagingError('error.account_suspended');
      }
      if (hook.status === 'disabled') throw new MessagingError('error.login_hook_disabled');
      number = this.numberOf(written);
      const digits = this.ids.bytes(8).readBigUInt64BE() % 10n ** BigInt(TEST_DIGITS);
      const code = digits.toString().padStart(TEST_DIGITS, '0');
      const { reply } = await this.send(hook, number, { number, code }, undefined);
      const message = messageIn(reply);
      this.note(hook, now, 'accepted', number, message, true);
      return message;
    } catch (error) {
      this.note(hook, now, error, number, undefined, true);
      throw error;
    }
  }

  /** Waits for an earlier call with the same key in this process, so that a repeat gets its answer and no refusal. */
  private async once(hook: LoginHook, key: string, number: string, order: HookOrder): Promise<Acceptance> {
    const running = `${hook.id} ${key}`;
    for (let earlier = this.running.get(running); earlier; earlier = this.running.get(running)) {
      await earlier.catch(() => undefined);
    }
    // The code is not part of the body, because its hash would be stored, and a hash of six digits hides nothing.
    const request = { key, body: { number: this.sealer.hash(number) } };
    const sent = this.idempotency.run(hook.accountId, `hooks/${hook.id}`, request, (once) =>
      this.send(hook, number, order, once),
    );
    this.running.set(running, sent);
    try {
      return await sent;
    } finally {
      this.running.delete(running);
    }
  }

  /**
   * Charges and queues a code.
   * @throws MessagingError `error.otp_too_many_codes`, `error.otp_destination_refused`, `error.otp_channel_unknown`,
   * `error.too_many_segments`, `error.unsendable_character`, `error.invalid_number`, `error.signature_refused`,
   * `error.insufficient_balance`, `error.account_not_found`, `error.storage_unavailable`, and those of a messaging app
   */
  private async send(
    hook: LoginHook,
    number: string,
    order: HookOrder,
    once: IdempotencyKey | undefined,
  ): Promise<Acceptance> {
    const { accountId, signature } = hook;
    const validity = order.validFor ?? VALID_SECONDS;
    const text = this.textOf(hook, order, validity);
    const channel = this.channels.find(hook.channel);
    if (!channel?.draft) throw new MessagingError('error.otp_channel_unknown', { channel: hook.channel });
    const { sender, lane, units } = await channel.draft({ accountId, number, text, signature });
    const service = hook.name ?? hook.kind;
    try {
      this.checkCountry(number);
      const id = this.ids.next();
      const now = this.clock.now();
      const payload = this.codes.payloadOf(text, now + validity * SECOND_MS);
      const reply = { message: id };
      const binding = { accountId, service: hook.id, number };
      const { dailyUnits } = hook;
      const policy = new LoginCodePolicy(
        { binding, messageId: id, units, dailyUnits, now, payload, reply },
        this.settings.limits,
      );
      return await this.outbox.accept({
        id,
        accountId,
        channel: channel.name,
        priority: 'code',
        sender,
        recipients: [{ number, units }],
        at: now,
        policy,
        payload,
        reply,
        ...(lane === undefined ? {} : { lane }),
        ...(once && { once }),
      });
    } catch (error) {
      this.publishRefusal({ accountId, service, number }, error);
      throw error;
    }
  }

  /** The text to send: that of the call, or one around its code. */
  private textOf({ name, channel, maxSegments }: LoginHook, order: HookOrder, validity: number): string {
    const { code = '' } = order;
    // A line break in the name makes `OtpText` leave it out.
    const text = order.text ?? this.settings.text.render({ code, service: name ?? '\n', validity });
    if (channel !== SMS) return text;
    // The limit comes before the check of the characters, because a long text of strange characters is slow to check.
    if (this.sms)
      return checkText(text, { ...this.sms, maxSegments: Math.min(maxSegments, this.sms.maxSegments) }).text;
    const { segments } = measure(text);
    if (segments > maxSegments) throw new MessagingError('error.too_many_segments', { segments, max: maxSegments });
    return text;
  }

  /** @throws MessagingError `error.invalid_number` */
  private numberOf(written: unknown): string {
    const home = this.sms?.home ?? this.settings.home;
    const number = typeof written === 'string' ? readNumber(written, { home, type: 'international' }) : undefined;
    if (number === undefined) throw new MessagingError('error.invalid_number', { number: formatInput(written) });
    return number;
  }

  private checkCountry(number: string): void {
    const { countries } = this.settings.limits;
    if (countries === 'all' || countries.includes(countryOf(number) ?? '')) return;
    throw new MessagingError('error.otp_destination_refused', { rule: 'country' });
  }

  /**
   * The Idempotency-Key of a call. A call without an id of its own is the same as an earlier one if both have the same body in
   * the same minute: its user may ask for the same code again later.
   */
  private keyOf({ id, kind }: LoginHook, order: HookOrder, { body, now }: HookRequest): string {
    if (order.id !== undefined) return this.sealer.hash(JSON.stringify(['id', id, order.id]));
    const digest = createHash('sha256').update(body).digest('base64');
    const minute = HOOK_KINDS[kind].bodyIsId ? 0 : Math.floor(now / MINUTE_MS);
    return this.sealer.hash(JSON.stringify(['body', id, digest, minute]));
  }

  /** Publishes which rule refused a code. */
  private publishRefusal(
    code: { readonly accountId: string; readonly service: string; readonly number: string },
    error: unknown,
  ): void {
    const rule = error instanceof MessagingError && CODE_RULES.find((each) => each === error.values.rule);
    if (!rule) return;
    this.publisher.add(refusalEvent({ ...code, at: this.clock.now() }, rule, error.retryAfter));
  }

  /**
   * Counts a call and records it. The caller does not wait for the record.
   * @param how the outcome, or the error that ended the call
   */
  private note(hook: LoginHook, at: number, how: unknown, number?: string, messageId?: string, test = false): void {
    const outcome = outcomeOf(how);
    this.events.emit('login_hook.called', { account: hook.accountId, hook: hook.id, kind: hook.kind, outcome });
    const call = {
      id: this.ids.next(),
      hookId: hook.id,
      at,
      outcome,
      number: number === undefined ? undefined : maskNumber(number),
      messageId,
      test,
    };
    this.calls.record(call).catch((error: unknown) => {
      const reason = error instanceof StorageUnavailableError ? error.reason : 'The storage failed.';
      this.log.warn(`A call of a log-in hook was not recorded: ${reason}`, { code: faultCode(error) });
    });
  }
}

/** The id of the message in the reply of `send`. */
function messageIn(reply: object): string {
  return 'message' in reply ? String(reply.message) : '';
}

/** @returns undefined for a body that is no JSON */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
