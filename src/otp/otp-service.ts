import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { renderText } from '../common/catalogue.js';
import { Clock } from '../common/clock.js';
import { MessagingError, MessagingOptionsError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator } from '../common/ids.js';
import { checkAccountId, checkInput, checkNumber, checkString, hasCodePoints } from '../common/inputs.js';
import { knownCallOptions } from '../common/options.js';
import { countryOf } from '../common/phone-number.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { Channels, type CodeChannel } from '../outbox/channel.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { type Acceptance, Outbox } from '../outbox/outbox.js';
import { PolicyStore } from '../outbox/policy-store.js';
import type { IdempotencyKey, Send } from '../outbox/send.js';
import type { OtpRule } from './fraud-rules.js';
import { describeChance } from './guess-chance.js';
import type { OtpBinding } from './otp-codes.js';
import type { OtpReceipt, VerifyOutcome } from './otp-results.js';
import { OtpSettings } from './otp-settings.js';
import { ChallengePolicy } from './send-challenge.js';
import { VerifyStep } from './verify-challenge.js';

/** A code for a number, in the name of a service. */
export interface OtpToSend {
  /** 1 to 128 characters; together with the number it says which code is meant. */
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** `sms` in any case, or the name of a mounted messaging-app channel. Default `sms`. */
  readonly channel?: string | undefined;
}

/** A code as somebody typed it in. */
export interface OtpToVerify {
  readonly service: string;
  readonly number: string;
  readonly otp: string;
}

/** How a send is to be done. */
export interface OtpSendOptions {
  /** Do it once, however often this key and body come. */
  readonly once?: IdempotentRequest | undefined;
  /** Be part of a transaction that the host has open: with TypeORM `host: { manager }`. */
  readonly host?: HostTransaction | undefined;
  /**
   * Aborted when the result is no longer wanted: a send that is in no transaction yet is dropped, charges nothing, and the
   * call throws the signal's reason. One that was accepted stays accepted.
   */
  readonly signal?: AbortSignal | undefined;
}

const ROUTE = 'send/otp';
const DEFAULT_CHANNEL = 'sms';
const LONGEST_SERVICE = 128;

/** One-time passcodes for an account. What the HTTP routes do, a host's own log-in flow can do here. */
@Injectable()
export class OtpService implements OnApplicationBootstrap {
  constructor(
    private readonly outbox: Outbox,
    private readonly guards: PolicyStore,
    private readonly gate: Idempotency,
    private readonly channels: Channels,
    private readonly settings: OtpSettings,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** Says what the options mean; refuses to start without a way to send codes. */
  onApplicationBootstrap(): void {
    if (!this.channels.all().some(({ draft }) => draft)) {
      throw new MessagingOptionsError('OTP needs a channel to send codes on: mount sms beside it, or msgapp.');
    }
    const log = new Logger('Otp');
    log.log(describeChance(this.settings.chance));
    for (const warning of this.settings.warnings) log.warn(warning);
  }

  /**
   * Charges and queues a code: the pending one again, or a new one. When this resolves it is stored and will be delivered.
   *
   * @throws MessagingError `error.otp_too_many_codes` (with `retryAfter`), `error.otp_destination_refused`,
   *   `error.otp_channel_unknown`, `error.invalid_number`, `error.field_invalid`, `error.field_not_string`,
   *   `error.body_not_object`, `error.signature_refused`, `error.insufficient_balance`, `error.account_not_found`,
   *   `error.idempotency_mismatch`, `error.idempotency_running`, `error.storage_unavailable`, and what the
   *   channel refuses with; then nothing is charged and the code before it stands
   */
  async send(accountId: string, otp: OtpToSend, options: OtpSendOptions = {}): Promise<OtpReceipt> {
    const { reply } = await this.accept(accountId, otp, options);
    // Written by the guard and kept as it was.
    return reply as OtpReceipt;
  }

  /** As `send`, and tells whether it was a replay. */
  async accept(accountId: string, otp: OtpToSend, options: OtpSendOptions = {}): Promise<Acceptance> {
    const { once, host, signal } = knownCallOptions('a send', options, 'once', 'host', 'signal');
    checkAccountId(accountId);
    const send = async (key?: IdempotencyKey) => {
      checkInput(otp);
      const binding = bindingOf(accountId, otp);
      try {
        return await this.outbox.accept(await this.draft(binding, otp.channel, key, host), { host, signal });
      } catch (error) {
        this.announce(binding, error);
        throw error;
      }
    };
    return this.gate.run(accountId, ROUTE, once, send, host);
  }

  /**
   * Tries a code, and consumes it when it is right. A wrong code is an answer, no exception; many attempts at once are
   * judged one after the other.
   *
   * @throws MessagingError `error.invalid_number`, `error.field_invalid`, `error.field_not_string`,
   *   `error.body_not_object`, `error.storage_unavailable`
   */
  async verify(accountId: string, attempt: OtpToVerify): Promise<VerifyOutcome> {
    checkAccountId(accountId);
    checkInput(attempt);
    const { service, number, otp } = attempt;
    const binding = bindingOf(accountId, { service, number });
    // No string either, from a host that hands over a body which nobody checked.
    const digits = typeof otp === 'string' && /^[0-9]+$/.test(otp) ? otp.length : 0;
    if (digits !== this.settings.codes.digits) return { kind: 'malformed' };
    const step = new VerifyStep(binding, otp, this.clock.now(), this.settings);
    const outcome = await this.guards.change(step.keys, step.decide, 'look');
    if (outcome.kind === 'verified') this.events.emit('otp.verified', { accountId, service, number });
    if (outcome.kind === 'locked') {
      this.events.emit('otp.locked', { accountId, service, number, retryAfter: outcome.retryAfter });
    }
    return outcome;
  }

  private async draft(
    binding: OtpBinding,
    name: string | undefined,
    once: IdempotencyKey | undefined,
    host: HostTransaction | undefined,
  ): Promise<Send> {
    const { accountId, service, number } = binding;
    const channel = this.channelOf(name);
    this.checkCountry(number);
    const { sender, lane, units } = await channel.draft({
      ...{ accountId, number, text: this.settings.specimenOf(service) },
      signature: this.settings.text.signatureOf(service),
      host,
    });
    const [id, now] = [this.ids.next(), this.clock.now()];
    const newId = this.ids.bytes(16).toString('base64url');
    const message = renderText(this.settings.catalogue, 'otp.sent');
    const guard = new ChallengePolicy(
      { binding, messageId: id, channel: channel.name, units, newId, now, message },
      this.settings,
    );
    return {
      ...{ id, accountId, channel: channel.name, sender, recipients: [{ number, units }], at: now, guard },
      // The guard's verdict takes the place of these.
      ...{ payload: { kind: 'otp' }, reply: {} },
      ...(lane === undefined ? {} : { lane }),
      ...(once && { once }),
    };
  }

  private channelOf(given: string | null | undefined): CodeChannel {
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

  /** Tells the host which rule refused a code. */
  private announce(binding: OtpBinding, error: unknown): void {
    if (!(error instanceof MessagingError) || typeof error.values.rule !== 'string') return;
    // Put there by the guard or by `checkCountry`.
    const rule = error.values.rule as OtpRule;
    this.events.emit(`otp.refused.${rule}`, { ...binding, retryAfter: error.retryAfter });
  }
}

/** @throws MessagingError for a number or a service that is none */
function bindingOf(accountId: string, { service, number }: Pick<OtpToSend, 'service' | 'number'>): OtpBinding {
  checkNumber(number);
  checkString('service', service);
  if (!hasCodePoints(service, 1, LONGEST_SERVICE))
    throw new MessagingError('error.field_invalid', { field: 'service' });
  return { accountId, service, number };
}
