import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import type { Cancellation } from '../common/concurrency/async.js';
import { MessagingError, MessagingOptionsError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator } from '../common/ids.js';
import { checkAccountId, checkInput, checkNumber, checkString, inNfc } from '../common/inputs.js';
import { checkCallOptions } from '../common/options.js';
import { countryOf } from '../common/phone-numbers/phone-number.js';
import { renderText } from '../common/text/catalogue.js';
import { refusalEvent } from '../events/account-events.js';
import { EventPublisher } from '../events/event-publisher.js';
import type { Metadata } from '../events/events.api.js';
import { CODE_RULES } from '../events/events.api.js';
import type { IdempotencyKey, Send, SendKey } from '../outbox/accept/send.js';
import { Channels, type TextChannel } from '../outbox/channel.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { metadataOf } from '../outbox/metadata.js';
import { type Acceptance, Outbox } from '../outbox/outbox.js';
import { PolicyStore } from '../outbox/policy/policy-store.js';
import { describeChance } from './guess-chance.js';
import type { OtpSendResult } from './otp.api.js';
import type { OtpBinding } from './otp-codes.js';
import type { VerifyOutcome } from './otp-results.js';
import { OtpSettings } from './otp-settings.js';
import { ChallengePolicy } from './send-challenge.js';
import { codeDigits } from './typed-code.js';
import { VerifyStep } from './verify-challenge.js';

/** A code to send. */
export interface OtpToSend {
  /**
   * The service that the code is for, 1 to 128 characters. Codes of different services are independent. Names are compared in
   * Unicode's normal form NFC, and otherwise exactly: letter case and blanks count.
   */
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** `sms` in any letter case, or the name of a mounted messaging-app channel. Default `sms`. */
  readonly channel?: string | undefined;
  /** Events repeat it. At most 16 keys, 512 characters (code points) in all. */
  readonly metadata?: Metadata | undefined;
}

/** A code to verify. */
export interface OtpToVerify {
  /** The same name as in the send. */
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** The code as the user typed it: digits of any script, with blanks and punctuation around and between them. */
  readonly otp: string;
}

/** Options of a send. */
export interface OtpSendOptions {
  /** The service sends once, no matter how often a request with this key and body comes. */
  readonly once?: IdempotentRequest | undefined;
  /** An open transaction of the host that stores the send: with TypeORM `host: { manager }`. */
  readonly host?: HostTransaction | undefined;
  /**
   * Abort it when the caller no longer waits. If no transaction has stored the send yet, the send is dropped and charges nothing,
   * and the call throws the signal's reason. An accepted send stays accepted.
   */
  readonly signal?: Cancellation | undefined;
  /** The caller's key (`caller.key`). The send must keep the key's daily cap, and the usage lists the key's sends separately. */
  readonly key?: SendKey | undefined;
}

const ROUTE = 'send/otp';
const DEFAULT_CHANNEL = 'sms';
const MAX_SERVICE_LENGTH = 128;

/**
 * Sends and verifies one-time passcodes, for the HTTP routes and for a host's own log-in flow.
 *
 * @example
 * ```ts
 * const { otpID } = await otp.send(accountId, { service: 'shop', number: '22670000000' });
 * const outcome = await otp.verify(accountId, { service: 'shop', number: '22670000000', otp: '1234' });
 * if (outcome.kind !== 'verified') throw new UnauthorizedException();
 * ```
 */
@Injectable()
export class OtpService implements OnApplicationBootstrap {
  constructor(
    private readonly outbox: Outbox,
    private readonly policies: PolicyStore,
    private readonly idempotency: Idempotency,
    private readonly channels: Channels,
    private readonly settings: OtpSettings,
    private readonly events: EventPublisher,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Logs the chance of guessing a code, and warnings about the options.
   * @throws MessagingOptionsError if no channel can send codes
   */
  onApplicationBootstrap(): void {
    const channels = this.channels.all().filter(({ draft }) => draft);
    if (channels.length === 0) {
      throw new MessagingOptionsError('OTP needs a channel on which it can send codes: mount sms or msgapp too.');
    }
    const log = new Logger('Otp');
    log.log(describeChance(this.settings.chance));
    const { warnings, limitWarnings } = this.settings;
    const isSandbox = channels.every((channel) => channel.isSandbox);
    for (const warning of isSandbox ? warnings : [...limitWarnings, ...warnings]) log.warn(warning);
  }

  /**
   * Charges and queues a code: the pending code again, or a new one. When the promise resolves, the send is stored and will be
   * delivered. A refused send charges nothing and leaves the pending code valid.
   *
   * @throws MessagingError `error.otp_too_many_codes` (with `retryAfter`), `error.otp_destination_refused`,
   * `error.otp_channel_unknown`, `error.invalid_number`, `error.field_invalid`, `error.field_not_string`,
   * `error.field_not_object`, `error.metadata_too_large`, `error.body_not_object`, `error.signature_refused`, `error.key_cap`,
   * `error.insufficient_balance`, `error.account_not_found`, `error.idempotency_mismatch`, `error.idempotency_running`,
   * `error.storage_unavailable`, and the codes with which the channel refuses a message
   * @throws the reason of `signal` if the send was dropped
   */
  async send(accountId: string, otp: OtpToSend, options: OtpSendOptions = {}): Promise<OtpSendResult> {
    const { reply } = await this.accept(accountId, otp, options);
    // `ChallengePolicy` wrote the reply, and a replay is a copy of it.
    return reply as OtpSendResult;
  }

  /** Does the same as `send`, and also reports whether the reply is a replay for an Idempotency-Key. */
  async accept(accountId: string, otp: OtpToSend, options: OtpSendOptions = {}): Promise<Acceptance> {
    const { once, host, signal, key } = checkCallOptions('a send', options, 'once', 'host', 'signal', 'key');
    checkAccountId(accountId);
    const send = async (once?: IdempotencyKey) => {
      checkInput(otp);
      const binding = bindingOf(accountId, otp);
      try {
        return await this.outbox.accept({ ...(await this.draft(binding, otp, once, host)), key }, { host, signal });
      } catch (error) {
        this.publishRefusal(binding, error);
        throw error;
      }
    };
    return this.idempotency.run(accountId, ROUTE, once, send, host);
  }

  /**
   * Verifies a code, and uses it up if it is correct. A wrong code is a result, not an exception. Concurrent attempts for the
   * same number are decided one after the other.
   *
   * @throws MessagingError `error.invalid_number`, `error.field_invalid`, `error.field_not_string`, `error.body_not_object`,
   * `error.storage_unavailable`
   */
  async verify(accountId: string, attempt: OtpToVerify): Promise<VerifyOutcome> {
    checkAccountId(accountId);
    checkInput(attempt);
    const { service, number, otp } = attempt;
    const binding = bindingOf(accountId, { service, number });
    // A host may pass an unchecked request body, so `otp` may be of any type.
    const digits = typeof otp === 'string' ? codeDigits(otp, this.settings.codes.digits) : undefined;
    if (digits === undefined) return { kind: 'malformed' };
    const step = new VerifyStep(binding, digits, this.clock.now(), this.settings);
    const outcome = await this.policies.change(step.keys, step.decide, 'to-change');
    this.events.publish(step.eventsOf(outcome));
    return outcome;
  }

  private async draft(
    binding: OtpBinding,
    otp: Pick<OtpToSend, 'channel' | 'metadata'>,
    once: IdempotencyKey | undefined,
    host: HostTransaction | undefined,
  ): Promise<Send> {
    const { accountId, service, number } = binding;
    const channel = this.channelOf(otp.channel);
    const metadata = metadataOf(otp.metadata);
    const { sender, lane, units } = await channel.draft({
      accountId,
      number,
      text: this.settings.specimenOf(service),
      signature: this.settings.text.signatureOf(service),
      host,
    });
    // This check comes after the draft, because the draft refuses numbers without their calling code. Example: `70000001` is in
    // no country.
    this.checkCountry(number);
    const id = this.ids.next();
    const now = this.clock.now();
    const newId = this.ids.bytes(16).toString('base64url');
    const message = renderText(this.settings.catalogue, 'otp.sent');
    const policy = new ChallengePolicy(
      { binding, messageId: id, channel: channel.name, units, newId, now, message },
      this.settings,
    );
    return {
      id,
      accountId,
      channel: channel.name,
      priority: 'code',
      sender,
      metadata,
      recipients: [{ number, units }],
      at: now,
      policy,
      // The decision of the policy replaces payload and reply.
      payload: { kind: 'otp' },
      reply: {},
      ...(lane === undefined ? {} : { lane }),
      ...(once && { once }),
    };
  }

  private channelOf(given: string | null | undefined): TextChannel {
    const name = given ?? DEFAULT_CHANNEL;
    checkString('channel', name);
    const channel = this.channels.find(name.toLowerCase() === DEFAULT_CHANNEL ? DEFAULT_CHANNEL : name);
    if (channel?.draft) return { name: channel.name, draft: channel.draft.bind(channel) };
    throw new MessagingError('error.otp_channel_unknown', { channel: name.slice(0, 64) });
  }

  private checkCountry(number: string): void {
    const { countries } = this.settings.limits;
    if (countries === 'all' || countries.includes(countryOf(number) ?? '')) return;
    throw new MessagingError('error.otp_destination_refused', { rule: 'country' });
  }

  /** Publishes which rule refused a code. */
  private publishRefusal(binding: OtpBinding, error: unknown): void {
    // `ChallengePolicy` or `checkCountry` has set `rule`.
    const rule = error instanceof MessagingError && CODE_RULES.find((each) => each === error.values.rule);
    if (!rule) return;
    this.events.add(refusalEvent({ ...binding, at: this.clock.now() }, rule, error.retryAfter));
  }
}

/** @throws MessagingError for an invalid number or service */
function bindingOf(accountId: string, { service, number }: Pick<OtpToSend, 'service' | 'number'>): OtpBinding {
  checkNumber(number);
  checkString('service', service);
  const name = inNfc(service, 1, MAX_SERVICE_LENGTH);
  if (name === undefined) throw new MessagingError('error.field_invalid', { field: 'service' });
  return { accountId, service: name, number };
}
