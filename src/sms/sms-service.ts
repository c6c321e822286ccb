import { Injectable } from '@nestjs/common';
import type { Author } from '../accounts/audit/audit-entry.js';
import { SignatureDirectory } from '../accounts/signatures/signature-directory.js';
import { Clock } from '../common/clock.js';
import type { Cancellation as CallerSignal } from '../common/concurrency/async.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator, isId } from '../common/ids.js';
import { checkAccountId, checkInput, checkString } from '../common/inputs.js';
import { cursorOf, searchedUntilOf } from '../common/listing/list-query.js';
import { checkCallOptions } from '../common/options.js';
import { isoText } from '../common/time.js';
import type { Metadata } from '../events/events.api.js';
import type { IdempotencyKey, Recipient, Send, SendKey } from '../outbox/accept/send.js';
import type { SendStep } from '../outbox/accept/send-step.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { metadataOf } from '../outbox/metadata.js';
import { type Acceptance, Outbox } from '../outbox/outbox.js';
import { FIRST_RECIPIENTS, type StoredMessage } from '../outbox/outbox-records.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import type { Priority, SendPriority } from '../outbox/queue/priority.api.js';
import { sendPriority } from '../outbox/queue/priority.js';
import { Cancellation, type CancelOptions } from '../outbox/schedule/cancellation.js';
import { readSchedule, readScheduleChange, type ScheduleInput } from '../outbox/schedule/read-schedule.js';
import type { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import { chosenWindow, withWindow } from '../outbox/windows/send-window.js';
import type { DeliveryWindow } from '../outbox/windows/window.api.js';
import { OPTED_OUT, OptOutDirectory } from './opt-out/opt-out-directory.js';
import type { SmsDetails, SmsPage, SmsQuote, SmsRecipientPage, SmsSendResult } from './sms.api.js';
import { SMS } from './sms-channel.js';
import { SmsSettings } from './sms-options.js';
import { checkContent, checkText, priceRecipients, unitsOf } from './sms-pricing.js';
import { messageQuery, recipientQuery, type SmsListQuery, type SmsRecipientsQuery } from './sms-query.js';
import { recipientsOf, summaryOf } from './sms-results.js';
import { TemplateService } from './templates/template-service.js';
import { type Addressees, type PersonalRecipient, readAddressees } from './texts/addressees.js';
import { quoteOf, quotePersonal } from './texts/quotes.js';
import { priceSend, type SendText } from './texts/send-text.js';

/** A text to one or more numbers under a sender name. */
export interface SmsToSend extends ScheduleInput {
  /** Default: the signature of the template. */
  readonly signature?: string | undefined;
  /** With `to`, a text with variables: `{name}` stands for a value of each recipient, `{{` and `}}` for braces. */
  readonly content?: string | undefined;
  /** The name of a template (`TemplateService`), in place of `content`. Its variables need values in `to`. */
  readonly template?: string | undefined;
  /** E.164 digits without the plus sign. Give either `number` or `to`. */
  readonly number?: readonly string[] | undefined;
  /** Recipients with the values of the variables in `content`. Each gets its own text, and is charged for it. */
  readonly to?: readonly PersonalRecipient[] | undefined;
  /** How soon the SMS are handed over, compared with other messages. Default `normal`, or `bulk` above 1000 recipients. */
  readonly priority?: SendPriority | undefined;
  /** Look-ups, listings and events repeat it. At most 16 keys, 512 characters (code points) in all. */
  readonly metadata?: Metadata | undefined;
}

/** Options of a send. */
export interface SmsSendOptions {
  /** Makes the send idempotent: the service sends once, no matter how often a call with this key and body comes. */
  readonly once?: IdempotentRequest | undefined;
  /** An open transaction of the host that stores the send: with TypeORM `host: { manager }`. */
  readonly host?: HostTransaction | undefined;
  /**
   * Abort it when the caller no longer waits. If no transaction has stored the send yet, nothing is charged, and the call throws
   * the signal's reason. An accepted send stays accepted.
   */
  readonly signal?: CallerSignal | undefined;
  /** The caller's key (`caller.key`). The send must keep the key's daily cap, and the usage lists the key's sends separately. */
  readonly key?: SendKey | undefined;
  /**
   * Makes a change of other rows that is stored in the transaction of the send.
   * @internal
   */
  readonly stepOf?: ((smsId: string) => SendStep) | undefined;
}

/** Options of a change of the schedule. */
export interface RescheduleOptions {
  /** The caller, for the audit log. Undefined: the audit log gets no entry. */
  readonly by?: Author | undefined;
}

const ROUTE = 'send/sms';

/**
 * Sends, prices and lists SMS of an account. With it the host's own code can do what the HTTP routes do.
 *
 * @example
 * ```ts
 * const { smsID } = await sms.send('shop', { signature: 'SHOP', content: 'Bonjour', number: ['22670000001'] });
 * const { recipients } = await sms.get('shop', smsID);
 * ```
 */
@Injectable()
export class SmsService {
  constructor(
    private readonly outbox: Outbox,
    private readonly store: OutboxStore,
    private readonly idempotency: Idempotency,
    private readonly cancellation: Cancellation,
    private readonly signatures: SignatureDirectory,
    private readonly optOuts: OptOutDirectory,
    private readonly templates: TemplateService,
    private readonly settings: SmsSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Charges and queues a text. When the promise resolves, the send is stored and will be delivered. A number that has opted out
   * of the signature (`OptOutService`) is stored as `failed` with the error `opted_out` and costs 0 units.
   *
   * @throws MessagingError `error.invalid_number`, `error.field_not_list`, `error.recipients_not_list`,
   * `error.too_many_recipients`, `error.field_missing` without recipients or a signature, `error.template_not_found`,
   * `error.fields_exclusive` for both `number` and `to`, or both `content` and `template`, `error.field_invalid` for an unknown
   * priority, `error.send_at_invalid`, `error.valid_for_invalid`, `error.field_not_object` and `error.metadata_too_large` for metadata, `error.empty_message`,
   * `error.field_not_string` for a content that is not a string, `error.body_not_object`, `error.signature_refused`,
   * `error.unsendable_character`, `error.too_many_segments`; for `to` also `error.field_not_object`, `error.field_not_string`
   * and `error.field_too_long` for values, `error.stray_brace`, and `error.variable_missing`, which names the first recipient
   * without a value; `error.key_cap`, `error.insufficient_balance`,
   * `error.account_not_found`, `error.idempotency_mismatch`, `error.idempotency_running`, `error.storage_unavailable`;
   * `error.window_invalid` and `error.window_empty` for the window. If it throws, nothing is charged
   */
  async send(accountId: string, sms: SmsToSend, options: SmsSendOptions = {}): Promise<SmsSendResult> {
    const { reply } = await this.accept(accountId, sms, options);
    // `draft` below made the reply, and the outbox stores it unchanged.
    return reply as SmsSendResult;
  }

  /**
   * Does the same as `send`, and also returns whether the reply is a replay.
   * @throws MessagingError the errors of `send`
   */
  async accept(accountId: string, sms: SmsToSend, options: SmsSendOptions = {}): Promise<Acceptance> {
    const { stepOf, ...given } = options;
    const { once, host, signal, key } = checkCallOptions('a send', given, 'once', 'host', 'signal', 'key');
    checkAccountId(accountId);
    const send = async (once?: IdempotencyKey) => {
      const draft = await this.draft(accountId, sms, { key, once, host, signal, stepOf });
      const window = chosenWindow(sms.window, this.defaultWindow(draft.priority));
      return this.outbox.accept(await withWindow(draft, window), { host, signal });
    };
    return this.idempotency.run(accountId, ROUTE, once, send, host);
  }

  /**
   * Returns the price of a send and charges nothing. It ignores opt-outs, because they depend on the signature.
   * @param accountId the account of the template, if `sms` names one
   * @throws MessagingError the errors of `send` for text and numbers
   */
  async quote(sms: Omit<SmsToSend, 'signature' | 'priority' | 'metadata'>, accountId?: string): Promise<SmsQuote> {
    checkInput(sms);
    const addressees = await readAddressees(sms, this.settings);
    const { content, mayBePersonal } = await this.textOf(accountId, sms, addressees);
    if (mayBePersonal) return quotePersonal(content, addressees, this.settings);
    const checked = checkText(content, this.settings);
    return quoteOf(checked, await priceRecipients(addressees.numbers, checked.segments, this.settings));
  }

  /**
   * Returns a message with its first 100 recipients.
   * @throws MessagingError `error.message_not_found` if the account has no such SMS
   */
  async get(accountId: string, smsId: string): Promise<SmsDetails> {
    const message = await this.find(accountId, smsId);
    const { items, refundedUnits } = await this.store.recipientPage(smsId, { limit: FIRST_RECIPIENTS, accountId });
    const numbers = items.map(({ number }) => number);
    const recipients = items.map(recipientsOf(message));
    // The refunded units are read together with the recipients, so that both are from the same moment.
    return { ...summaryOf({ ...message, refundedUnits }, numbers), recipients };
  }

  /**
   * Cancels every recipient of a message that no worker has claimed, and refunds their units. A repeat changes nothing.
   * With `number`, only this recipient.
   *
   * @throws MessagingError `error.message_not_found` if the account has no such SMS or the SMS no such recipient,
   * `error.invalid_number`, `error.storage_unavailable`. After the last one, a repeat cancels what is left
   */
  async cancel(accountId: string, smsId: string, options: CancelOptions = {}): Promise<CanceledMessage> {
    return this.cancellation.cancel(await this.find(accountId, smsId), options);
  }

  /**
   * Changes when a message is handed over, while no worker has claimed any of its recipients, and returns it as `get`. A
   * field that is absent stays as it is, and `window: null` removes the window. With a new `send_at`, the validity keeps its
   * length.
   *
   * @throws MessagingError `error.already_sending` if a recipient was claimed or none waits, `error.message_not_found` if
   * the account has no such SMS, `error.send_at_invalid`, `error.valid_for_invalid`, `error.window_invalid`,
   * `error.window_empty`, `error.storage_unavailable`. After the last one, the change may have been stored; a repeat is safe
   */
  async reschedule(
    accountId: string,
    smsId: string,
    changes: ScheduleInput,
    { by }: RescheduleOptions = {},
  ): Promise<SmsDetails> {
    checkInput(changes);
    const at = this.clock.now();
    const change = readScheduleChange(changes, at);
    await this.outbox.reschedule({ message: await this.find(accountId, smsId), change, at, by });
    return this.get(accountId, smsId);
  }

  /**
   * Lists the recipients of a message in the order of the send, 1 to 1000 per page. With `status`, a page may have fewer items or
   * none, even if there are more. Continue until `next_cursor` is null.
   *
   * @throws MessagingError `error.message_not_found` if the account has no such SMS, `error.invalid_cursor`, and
   * `error.field_invalid` for an invalid limit or status
   */
  async recipients(accountId: string, smsId: string, query: SmsRecipientsQuery = {}): Promise<SmsRecipientPage> {
    const message = await this.find(accountId, smsId);
    const wanted = recipientQuery(query, message);
    const { items, next } = await this.store.recipientPage(smsId, { ...wanted, accountId });
    return { items: items.map(recipientsOf(message)), next_cursor: cursorOf(next) };
  }

  /**
   * Lists the SMS of an account, newest first, 1 to 1000 per page, each with its first 100 numbers. A page has at most about 1
   * MB, so a page of long texts may have fewer items. With `number`, `status`, `signature` or `metadata` it may have fewer items
   * or none; `searched_until` then says how far the search has come. Continue until `next_cursor` is null.
   *
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for an invalid limit, status or moment,
   * `error.invalid_number`, and `error.field_not_string` for a signature that is not a string, and the errors of `send` for
   * metadata
   */
  async list(accountId: string, query: SmsListQuery = {}): Promise<SmsPage> {
    checkAccountId(accountId);
    const page = await this.store.list({
      accountId,
      channel: SMS,
      kinds: ['text'],
      ...messageQuery(query, this.clock.now()),
    });
    const ids = page.items.map(({ id }) => id);
    const numbers = await this.store.numbers(ids, accountId);
    return {
      items: page.items.map((message) => summaryOf(message, numbers.get(message.id) ?? [])),
      next_cursor: cursorOf(page.next),
      searched_until: searchedUntilOf(page),
    };
  }

  /** The window of a send that gives none. */
  private defaultWindow(priority: Priority | undefined): DeliveryWindow | undefined {
    const { bulk, normal } = this.settings.windows;
    return priority === 'bulk' ? bulk : priority === 'normal' ? normal : undefined;
  }

  private async find(accountId: string, smsId: string): Promise<StoredMessage> {
    checkAccountId(accountId);
    const message = isId(smsId) ? await this.store.find(accountId, SMS, smsId) : undefined;
    if (message?.payload.kind !== 'text') throw new MessagingError('error.message_not_found');
    return message;
  }

  /** Reads the text that a send gives or names. */
  private async textOf(
    accountId: string | undefined,
    { content, template }: Pick<SmsToSend, 'content' | 'template'>,
    { vars }: Addressees,
    host?: HostTransaction,
  ): Promise<SendText & { readonly signature?: string | undefined }> {
    if (isAbsent(template)) return { content: checkContent(content), mayBePersonal: vars !== undefined };
    if (!isAbsent(content)) throw new MessagingError('error.fields_exclusive', { field: 'content', other: 'template' });
    checkString('template', template);
    checkAccountId(accountId);
    const named = await this.templates.find(accountId, template, host);
    return { content: named.content, signature: named.signature, mayBePersonal: true };
  }

  private async draft(
    accountId: string,
    sms: SmsToSend,
    { key, once, host, signal, stepOf }: DraftOptions,
  ): Promise<Send> {
    checkInput(sms);
    if (isAbsent(sms.signature) && isAbsent(sms.template)) {
      throw new MessagingError('error.field_missing', { field: 'signature' });
    }
    // Clients rely on the order of refusals: shape, empty text, signature, price.
    const addressees = await readAddressees(sms, this.settings);
    const { numbers } = addressees;
    const priority = sendPriority(sms.priority, numbers.length);
    const metadata = metadataOf(sms.metadata);
    readSchedule(sms, this.clock.now());
    const text = await this.textOf(accountId, sms, addressees, host);
    const signature = sms.signature ?? text.signature;
    if (signature === undefined) throw new MessagingError('error.field_missing', { field: 'signature' });
    const usable = this.signatures.isUsable(accountId, signature, host);
    if (!(usable instanceof Promise ? await usable : usable)) throw new MessagingError('error.signature_refused');
    const { payload, recipients: priced } = await priceSend(text, addressees, this.settings, signal);
    const lookup = host
      ? this.optOuts.amongWithin(host, accountId, signature, numbers)
      : this.optOuts.among(accountId, signature, numbers);
    const optedOut = lookup instanceof Promise ? await lookup : lookup;
    const recipients = optedOut.size === 0 ? priced : priced.map((each) => markOptedOut(each, optedOut));
    const id = this.ids.next();
    const at = this.clock.now();
    const reply: SmsSendResult = {
      userID: accountId,
      smsID: id,
      signature,
      number: numbers,
      sms_units: unitsOf(recipients),
      date_sent: isoText(at),
    };
    // This was checked above. The validity counts from the acceptance.
    const schedule = readSchedule(sms, at);
    return {
      id,
      accountId,
      channel: SMS,
      priority,
      sender: signature,
      payload,
      metadata,
      key,
      recipients,
      at,
      reply,
      ...(schedule && { schedule }),
      ...(once && { once }),
      ...(stepOf && { step: stepOf(id) }),
    };
  }
}

/** What a send is accepted with. */
interface DraftOptions extends Pick<SmsSendOptions, 'host' | 'signal' | 'key' | 'stepOf'> {
  readonly once: IdempotencyKey | undefined;
}

/** Null counts as absent, as it does in bodies of requests. */
function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Opted-out recipients are stored as refused and cost 0 units. */
function markOptedOut(recipient: Recipient, optedOut: ReadonlySet<string>): Recipient {
  return optedOut.has(recipient.number) ? { number: recipient.number, units: 0, refused: OPTED_OUT } : recipient;
}
