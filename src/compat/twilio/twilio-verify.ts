import { Injectable, Optional } from '@nestjs/common';
import type { Caller } from '../../accounts/keys/authenticator.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { OtpService } from '../../otp/otp-service.js';
import { TwilioRefusal } from './twilio-errors.js';
import { sidOf } from './twilio-ids.js';

/** A verification in Twilio's shape, as its version v2 has it. */
export interface TwilioVerification {
  readonly sid: string;
  readonly service_sid: string;
  readonly account_sid: string;
  readonly to: string;
  readonly channel: string;
  readonly status: 'pending' | 'approved';
  readonly valid: boolean;
  readonly amount: null;
  readonly payee: null;
  /** ISO 8601. */
  readonly date_created: string;
  readonly date_updated: string;
}

type Fields = ReadonlyMap<string, string>;

/** Twilio's words for channels. Others are names of ours. */
const CHANNELS: Readonly<Record<string, string>> = { whatsapp: 'msgapp' };

/**
 * Twilio's Verify on our one-time passcodes. The id of a service is the name of the service in our codes, with or without the
 * letters `VA` before it.
 */
@Injectable()
export class TwilioVerify {
  constructor(
    private readonly clock: Clock,
    @Optional() private readonly otp?: OtpService,
  ) {}

  /** @throws MessagingError the errors of `OtpService.send`; TwilioRefusal */
  async send({ accountId, key }: Caller, serviceSid: string, fields: Fields): Promise<TwilioVerification> {
    const [number, channel = 'sms'] = [numberIn(fields), fields.get('Channel')];
    const order = { service: serviceOf(serviceSid), number, channel: CHANNELS[channel] ?? channel };
    const { otpID } = await this.service().send(accountId, order, { key });
    return this.view({ id: otpID, accountId, serviceSid, number, channel, status: 'pending' });
  }

  /**
   * Compares a code. A wrong code stays `pending`.
   * @throws MessagingError; TwilioRefusal 20404 if there is nothing to verify, 60202 after too many tries
   */
  async check({ accountId }: Caller, serviceSid: string, fields: Fields): Promise<TwilioVerification> {
    const [number, code] = [numberIn(fields), fields.get('Code')];
    if (!code) throw new TwilioRefusal(60_200, 400, 'Invalid parameter: Code');
    const outcome = await this.service().verify(accountId, { service: serviceOf(serviceSid), number, otp: code });
    const { kind } = outcome;
    if (kind === 'locked') throw new MessagingError('error.otp_locked', {}, outcome.retryAfter);
    if (kind === 'exhausted') throw new TwilioRefusal(60_202, 429, 'Max check attempts reached');
    if (kind === 'not_found' || kind === 'expired' || kind === 'spent') throw notFound();
    const status = kind === 'verified' || kind === 'already_verified' ? 'approved' : 'pending';
    return this.view({ id: number, accountId, serviceSid, number, channel: 'sms', status });
  }

  private service(): OtpService {
    if (this.otp === undefined) throw notFound();
    return this.otp;
  }

  private view({ id, accountId, serviceSid, number, channel, status }: ShownVerification): TwilioVerification {
    const now = new Date(this.clock.now()).toISOString();
    return {
      sid: sidOf('VE', id),
      service_sid: serviceSid,
      account_sid: sidOf('AC', accountId),
      to: `+${number}`,
      channel,
      status,
      valid: status === 'approved',
      amount: null,
      payee: null,
      date_created: now,
      date_updated: now,
    };
  }
}

interface ShownVerification {
  readonly id: string;
  readonly accountId: string;
  readonly serviceSid: string;
  readonly number: string;
  readonly channel: string;
  readonly status: 'pending' | 'approved';
}

function serviceOf(sid: string): string {
  return sid.replace(/^VA(?=.)/, '');
}

/** @throws TwilioRefusal for a missing number */
function numberIn(fields: Fields): string {
  const to = fields.get('To');
  if (!to) throw new TwilioRefusal(60_200, 400, 'Invalid parameter: To');
  return to.replace(/^\+(?=\d)/, '');
}

function notFound(): TwilioRefusal {
  return new TwilioRefusal(20_404, 404, 'The requested resource was not found');
}
