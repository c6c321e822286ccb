import { Injectable } from '@nestjs/common';
import type { Caller } from '../../accounts/keys/authenticator.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { DAY_MS } from '../../common/time.js';
import type { SmsToSend } from '../../sms/sms-service.js';
import { SmsService } from '../../sms/sms-service.js';
import { CallbackRefusal, StatusCallbacks } from '../status-callbacks/status-callbacks.js';
import { TwilioRefusal } from './twilio-errors.js';
import { idOf, sidOf } from './twilio-ids.js';
import { API_VERSION, type TwilioMessage, twilioMessage } from './twilio-message.js';

/** A page of messages in Twilio's shape. */
export interface TwilioMessagePage {
  readonly messages: readonly TwilioMessage[];
  readonly page: number;
  readonly page_size: number;
  readonly start: number;
  readonly end: number;
  readonly uri: string;
  readonly first_page_uri: string;
  readonly next_page_uri: string | null;
  readonly previous_page_uri: null;
}

type Fields = ReadonlyMap<string, string>;

const MAX_PAGE = 100;
const DEFAULT_PAGE = 50;

/** Fields of a create request that would change what is sent, and that this service cannot do. */
const REFUSED = ['MediaUrl', 'ContentSid', 'PersistentAction', 'ApplicationSid'];

/** Twilio's Messages on our SMS. */
@Injectable()
export class TwilioMessages {
  constructor(
    private readonly sms: SmsService,
    private readonly callbacks: StatusCallbacks,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends a text to one number.
   * @param password the API key as it came, which signs the calls of `StatusCallback`
   * @throws MessagingError the errors of `SmsService.send`; TwilioRefusal
   */
  async create({ accountId, key }: Caller, password: string, fields: Fields): Promise<TwilioMessage> {
    for (const field of REFUSED) {
      if (fields.has(field)) throw new TwilioRefusal(21_620, 400, `The parameter ${field} is not supported`);
    }
    const order = orderOf(fields);
    const url = fields.get('StatusCallback');
    const prepared = url ? this.callbacks.prepare({ accountId, kind: 'twilio', key: password, url }) : undefined;
    const stepOf = await prepared?.catch((error: unknown) => {
      throw error instanceof CallbackRefusal ? refusedUrl(error) : error;
    });
    const { smsID } = await this.sms.send(accountId, order, { key, stepOf });
    return this.get(accountId, smsID);
  }

  /** @throws MessagingError `error.message_not_found` */
  async get(accountId: string, sid: string): Promise<TwilioMessage> {
    const { recipients, ...summary } = await this.sms.get(accountId, idOf('SM', sid));
    return twilioMessage(summary, recipients[0], this.clock.now());
  }

  /**
   * Changes a message: `Status=canceled` cancels it.
   * @throws MessagingError `error.message_not_found`; TwilioRefusal for a message that was handed over, and for any other change
   */
  async change(accountId: string, sid: string, fields: Fields): Promise<TwilioMessage> {
    if (fields.get('Status') !== 'canceled') {
      throw new TwilioRefusal(20_001, 400, 'The only change of a message is Status=canceled');
    }
    const { too_late } = await this.sms.cancel(accountId, idOf('SM', sid));
    if (too_late > 0) throw new TwilioRefusal(30_409, 409, 'The message was sent and cannot be canceled');
    return this.get(accountId, sid);
  }

  /** A page of the account's messages, newest first. */
  async list(accountId: string, query: Fields): Promise<TwilioMessagePage> {
    const size = pageSizeOf(query.get('PageSize'));
    const [since, until] = periodOf(query);
    const { items, next_cursor } = await this.sms.list(accountId, {
      limit: size,
      cursor: query.get('PageToken'),
      number: numberOf(query.get('To')),
      signature: numberOf(query.get('From')),
      since,
      until,
    });
    const messages = await Promise.all(items.map(({ smsID }) => this.get(accountId, smsID)));
    const page = Number(query.get('Page') ?? 0);
    const path = `/${API_VERSION}/Accounts/${sidOf('AC', accountId)}/Messages.json`;
    const uriOf = (further: Record<string, string>) => {
      const kept = [...query].filter(([name]) => name !== 'Page' && name !== 'PageToken');
      return `${path}?${new URLSearchParams([...kept, ...Object.entries(further)])}`;
    };
    return {
      messages,
      page,
      page_size: size,
      start: page * size,
      end: page * size + Math.max(0, messages.length - 1),
      uri: uriOf({ Page: String(page) }),
      first_page_uri: uriOf({ Page: '0' }),
      next_page_uri: next_cursor === null ? null : uriOf({ Page: String(page + 1), PageToken: next_cursor }),
      previous_page_uri: null,
    };
  }
}

function refusedUrl({ reason }: CallbackRefusal): TwilioRefusal {
  const message =
    reason === 'no webhooks'
      ? 'StatusCallback needs the option webhooks of this service'
      : "The 'StatusCallback' URL is not a valid URL or may not be called";
  return new TwilioRefusal(21_609, 400, message);
}

/** @throws TwilioRefusal for a missing field */
function orderOf(fields: Fields): SmsToSend {
  const to = fields.get('To');
  if (!to) throw new TwilioRefusal(21_604, 400, "A 'To' phone number is required");
  // A messaging service stands for a sender name.
  const from = fields.get('From') || fields.get('MessagingServiceSid');
  if (!from) throw new TwilioRefusal(21_603, 400, "A 'From' phone number is required");
  return {
    signature: numberOf(from) ?? '',
    content: fields.get('Body'),
    number: [numberOf(to) ?? ''],
    send_at: fields.get('SendAt'),
    valid_for: validityOf(fields.get('ValidityPeriod')),
  };
}

/** Seconds. The service refuses what is not in its range. */
function validityOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** Numbers have a plus sign in Twilio's shape. */
function numberOf(text: string | undefined): string | undefined {
  return text?.replace(/^\+(?=\d)/, '');
}

/** @throws TwilioRefusal for a size that is not 1 to 1000 */
function pageSizeOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PAGE;
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1) throw new TwilioRefusal(20_006, 400, 'PageSize is invalid');
  return Math.min(size, MAX_PAGE);
}

/**
 * The period of `DateSent` (a whole day), `DateSent>` and `DateSent<`.
 * @throws MessagingError `error.field_invalid`
 */
function periodOf(query: Fields): [since: string | undefined, until: string | undefined] {
  const day = query.get('DateSent');
  if (day === undefined) return [query.get('DateSent>'), query.get('DateSent<')];
  const since = Date.parse(day.slice(0, 10));
  if (Number.isNaN(since)) throw new MessagingError('error.field_invalid', { field: 'DateSent' });
  return [new Date(since).toISOString(), new Date(since + DAY_MS).toISOString()];
}
