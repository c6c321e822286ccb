import { Injectable } from '@nestjs/common';
import { SignatureDirectory } from '../accounts/signature-directory.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator, isId } from '../common/ids.js';
import { checkAccountId, checkInput } from '../common/inputs.js';
import { knownCallOptions } from '../common/options.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { type Acceptance, Outbox } from '../outbox/outbox.js';
import { FIRST_RECIPIENTS, OutboxStore, type StoredMessage } from '../outbox/outbox-store.js';
import type { IdempotencyKey, Recipient, Send } from '../outbox/send.js';
import { OPTED_OUT, OptOutDirectory } from './opt-out/opt-out-directory.js';
import { measure, notGsm7 } from './segmentation.js';
import { SMS } from './sms-channel.js';
import { checkContent, checkNumbers, checkText, priceRecipients } from './sms-draft.js';
import { SmsSettings } from './sms-options.js';
import { cursorOf, messageQuery, recipientQuery, type SmsListQuery, type SmsRecipientsQuery } from './sms-query.js';
import {
  recipientOf,
  type SmsDetails,
  type SmsPage,
  type SmsQuote,
  type SmsReceipt,
  type SmsRecipientPage,
  summaryOf,
} from './sms-results.js';

/** A text for one or many numbers under a sender name. */
export interface SmsToSend {
  readonly signature: string;
  readonly content?: string | undefined;
  /** E.164 digits without the plus sign. */
  readonly number: readonly string[];
}

/** How a send is to be done. */
export interface SmsSendOptions {
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

const ROUTE = 'send/sms';

/** SMS for an account: send, quote, look up. What the HTTP routes do, a host's own code can do here. */
@Injectable()
export class SmsService {
  constructor(
    private readonly outbox: Outbox,
    private readonly store: OutboxStore,
    private readonly gate: Idempotency,
    private readonly signatures: SignatureDirectory,
    private readonly optOuts: OptOutDirectory,
    private readonly settings: SmsSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Charges and queues a text; when this resolves it is stored and will be delivered. A number that wants nothing under
   * this signature (`OptOutService`) is stored as `failed` with the error `opted_out`, and costs nothing.
   *
   * @throws MessagingError `error.invalid_number`, `error.field_not_list`, `error.too_many_recipients`,
   *   `error.empty_message`, `error.field_not_string` for a content that is none, `error.body_not_object`,
   *   `error.signature_refused`, `error.unsendable_character`, `error.too_many_segments`, `error.insufficient_balance`,
   *   `error.account_not_found`, `error.idempotency_mismatch`, `error.idempotency_running`,
   *   `error.storage_unavailable`; then nothing is charged
   */
  async send(accountId: string, sms: SmsToSend, options: SmsSendOptions = {}): Promise<SmsReceipt> {
    const { reply } = await this.accept(accountId, sms, options);
    // Written by `draft` below and kept as it was.
    return reply as SmsReceipt;
  }

  /** As `send`, and tells whether it was a replay. */
  async accept(accountId: string, sms: SmsToSend, options: SmsSendOptions = {}): Promise<Acceptance> {
    const { once, host, signal } = knownCallOptions('a send', options, 'once', 'host', 'signal');
    checkAccountId(accountId);
    const send = async (key?: IdempotencyKey) =>
      this.outbox.accept(await this.draft(accountId, sms, key, host), { host, signal });
    return this.gate.run(accountId, ROUTE, once, send, host);
  }

  /** What a send would cost if nobody had opted out: that depends on the signature. Charges nothing. @throws MessagingError as `send`, for text and numbers */
  async quote(sms: Omit<SmsToSend, 'signature'>): Promise<SmsQuote> {
    checkInput(sms);
    const numbers = await checkNumbers(sms.number, this.settings);
    const { text, segments } = checkText(checkContent(sms.content), this.settings);
    const recipients = await priceRecipients(numbers, segments, this.settings);
    const { encoding, characters } = measure(text);
    return {
      encoding,
      segments,
      characters,
      units_per_recipient: recipients,
      sms_units: unitsOf(recipients),
      not_gsm7: notGsm7(text),
    };
  }

  /**
   * A message with its first 100 recipients.
   * @throws MessagingError `error.message_not_found` when the account has no such SMS
   */
  async get(accountId: string, smsId: string): Promise<SmsDetails> {
    const message = await this.find(accountId, smsId);
    const { items, refundedUnits } = await this.store.recipientPage(smsId, { limit: FIRST_RECIPIENTS });
    const numbers = items.map(({ number }) => number);
    // Read with the recipients: a refund since the message was read must not show below and be missing above.
    return { ...summaryOf({ ...message, refundedUnits }, numbers), recipients: items.map(recipientOf) };
  }

  /**
   * The recipients of a message in the order of the send, 1 to 1000 a page. With `status`, a page may hold fewer, even none,
   * while there are more: go on until `next_cursor` is null.
   *
   * @throws MessagingError `error.message_not_found` when the account has no such SMS, `error.invalid_cursor`, and
   *   `error.field_invalid` for a limit or a status that is none
   */
  async recipients(accountId: string, smsId: string, query: SmsRecipientsQuery = {}): Promise<SmsRecipientPage> {
    const wanted = recipientQuery(query, await this.find(accountId, smsId));
    const { items, next } = await this.store.recipientPage(smsId, wanted);
    return { items: items.map(recipientOf), next_cursor: cursorOf(next) };
  }

  /**
   * An account's SMS, newest first, 1 to 1000 a page, each with its first 100 numbers. With `number`, `status` or
   * `signature`, a page may hold fewer, even none, while there are more: go on until `next_cursor` is null.
   *
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for a limit, a status or a moment that is none,
   *   `error.invalid_number`, and `error.field_not_string` for a signature that is none
   */
  async list(accountId: string, query: SmsListQuery = {}): Promise<SmsPage> {
    checkAccountId(accountId);
    const page = await this.store.list({ accountId, channel: SMS, kind: 'text', ...messageQuery(query) });
    const numbers = await this.store.numbers(page.items.map(({ id }) => id));
    return {
      items: page.items.map((message) => summaryOf(message, numbers.get(message.id) ?? [])),
      next_cursor: cursorOf(page.next),
    };
  }

  private async find(accountId: string, smsId: string): Promise<StoredMessage> {
    checkAccountId(accountId);
    const message = isId(smsId) ? await this.store.find(accountId, SMS, smsId) : undefined;
    if (message?.payload.kind !== 'text') throw new MessagingError('error.message_not_found');
    return message;
  }

  private async draft(
    accountId: string,
    sms: SmsToSend,
    once: IdempotencyKey | undefined,
    host: HostTransaction | undefined,
  ): Promise<Send> {
    checkInput(sms);
    // In the order of the contract's refusals: shape, empty text, signature, price.
    const numbers = await checkNumbers(sms.number, this.settings);
    const content = checkContent(sms.content);
    const usable = this.signatures.isUsable(accountId, sms.signature, host);
    if (!(usable instanceof Promise ? await usable : usable)) throw new MessagingError('error.signature_refused');
    const { text, segments } = checkText(content, this.settings);
    const out = host
      ? this.optOuts.amongWithin(host, accountId, sms.signature, numbers)
      : this.optOuts.among(accountId, sms.signature, numbers);
    const unwilling = out instanceof Promise ? await out : out;
    const priced = await priceRecipients(numbers, segments, this.settings);
    const recipients = unwilling.size === 0 ? priced : priced.map((each) => markOptedOut(each, unwilling));
    const id = this.ids.next();
    const at = this.clock.now();
    const reply: SmsReceipt = {
      userID: accountId,
      smsID: id,
      signature: sms.signature,
      number: numbers,
      sms_units: unitsOf(recipients),
      date_sent: new Date(at).toISOString(),
    };
    const payload = { kind: 'text', text };
    return {
      id,
      accountId,
      channel: SMS,
      sender: sms.signature,
      payload,
      recipients,
      at,
      reply,
      ...(once && { once }),
    };
  }
}

function unitsOf(recipients: readonly Recipient[]): number {
  let units = 0;
  for (const recipient of recipients) units += recipient.units;
  return units;
}

/** Who wants nothing costs nothing and gets nothing. */
function markOptedOut(recipient: Recipient, unwilling: ReadonlySet<string>): Recipient {
  return unwilling.has(recipient.number) ? { number: recipient.number, units: 0, refused: OPTED_OUT } : recipient;
}
