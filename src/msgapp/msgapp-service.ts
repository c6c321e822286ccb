import { Injectable } from '@nestjs/common';
import { LedgerService } from '../billing/ledger-service.js';
import { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator, isId } from '../common/ids.js';
import { checkAccountId, checkInput, checkString, unsendableCharacter } from '../common/inputs.js';
import { cursorOf, searchedUntilOf } from '../common/listing/list-query.js';
import { checkCallOptions } from '../common/options.js';
import { isInvisible } from '../common/text/visible-text.js';
import type { Metadata } from '../events/events.api.js';
import { MEDIA_KINDS } from '../media/media.api.js';
import type { IdempotencyKey, Send, SendKey } from '../outbox/accept/send.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { metadataOf } from '../outbox/metadata.js';
import { type Acceptance, type AcceptOptions, Outbox } from '../outbox/outbox.js';
import { type StoredMessage, type TrackedRecipient } from '../outbox/outbox-records.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { type SendPriority } from '../outbox/queue/priority.api.js';
import { sendPriority } from '../outbox/queue/priority.js';
import { Cancellation, type CancelOptions } from '../outbox/schedule/cancellation.js';
import { readSchedule, type ScheduleInput } from '../outbox/schedule/read-schedule.js';
import type { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import { chosenWindow, withWindow } from '../outbox/windows/send-window.js';
import type { MsgappMessage, MsgappPage, MsgappSendResult } from './msgapp.api.js';
import { MsgappSettings } from './msgapp-options.js';
import { type MsgappListQuery, messageQuery } from './msgapp-query.js';
import { messageOf } from './msgapp-results.js';
import { MAX_TEXT, type MediaKind } from './msgapp-transport.js';
import { type Addressee, Addressees, type AddressInput } from './sending/addressees.js';
import { MediaIntake } from './sending/media-intake.js';
import { isShownPayload, type MediaPayload } from './sending/message-contents.js';
import { type Sender, Senders } from './sending/senders.js';

/** A text to one person. */
export interface MsgappText extends AddressInput, ScheduleInput {
  readonly body?: string | undefined;
  /** How soon it is handed over, compared with other messages of the sending number. Default `normal`. */
  readonly priority?: SendPriority | undefined;
  /** Look-ups, listings and events repeat it. At most 16 keys, 512 characters (code points) in all. */
  readonly metadata?: Metadata | undefined;
}

/** A file to one person. */
export interface MsgappFile extends AddressInput, ScheduleInput {
  /** The URL from which the service fetches the file. */
  readonly mediaUrl: string;
  /**
   * How the app presents the file. Default: the kind that its bytes show. A file whose bytes are of another kind is refused. A
   * picture, film or sound that apps cannot show is sent as a document. A `voice` note must be Opus in Ogg.
   */
  readonly mediaType?: MediaKind | undefined;
  readonly caption?: string | undefined;
  /** How soon it is handed over, compared with other messages of the sending number. Default `normal`. */
  readonly priority?: SendPriority | undefined;
  /** Look-ups, listings and events repeat it. At most 16 keys, 512 characters (code points) in all. */
  readonly metadata?: Metadata | undefined;
}

/** Options of a send. */
export interface MsgappSendOptions {
  /** Idempotency: a request with the same key and body is sent once, no matter how often it is repeated. */
  readonly once?: IdempotentRequest | undefined;
  /** An open transaction of the host that the send joins: with TypeORM `host: { manager }`. */
  readonly host?: HostTransaction | undefined;
  /**
   * Abort it when the result is no longer wanted. This ends the fetch of a file. If no transaction has stored the send yet, the
   * send is dropped without a charge, and the call rejects with the signal's reason. An accepted send stays accepted.
   */
  readonly signal?: AbortSignal | undefined;
  /** The caller's key (`caller.key`). The send must keep the key's daily cap, and the usage lists the key's sends separately. */
  readonly key?: SendKey | undefined;
}

/**
 * Sends texts and files over one messaging-app channel. With it the host's own code can do what the HTTP routes do.
 *
 * @example
 * ```ts
 * const { messageID } = await msgapp.sendText(accountId, { to: '22670000000', body: 'Bonjour' });
 * ```
 */
@Injectable()
export class MsgappService {
  constructor(
    private readonly outbox: Outbox,
    private readonly store: OutboxStore,
    private readonly ledger: LedgerService,
    private readonly gate: Idempotency,
    private readonly cancellation: Cancellation,
    private readonly addressees: Addressees,
    private readonly senders: Senders,
    private readonly intake: MediaIntake,
    private readonly settings: MsgappSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Charges and queues a text. When the promise resolves, the text is stored and will be delivered. If it throws, nothing is
   * charged.
   *
   * @throws MessagingError `error.invalid_number`, `error.contact_not_found`, `error.contact_other_session`, `error.message_not_found` (for `reply_to`), `error.empty_message`, `error.field_invalid` for more than 65 536 characters
   * and for an unknown priority, `error.send_at_invalid`, `error.valid_for_invalid`, `error.field_not_object` and `error.metadata_too_large` for metadata, `error.field_not_string`,
   * `error.body_not_object`, `error.unsendable_character`, `error.msgapp_no_session`, `error.msgapp_not_connected`,
   * `error.msgapp_reconnecting` (with `retryAfter`), `error.key_cap`, `error.insufficient_balance`, `error.account_not_found`,
   * `error.idempotency_mismatch`, `error.idempotency_running`, `error.storage_unavailable`, and `error.window_invalid` and
   * `error.window_empty` for the window
   */
  async sendText(accountId: string, text: MsgappText, options: MsgappSendOptions = {}): Promise<MsgappSendResult> {
    const { reply } = await this.acceptText(accountId, text, options);
    // `draft` below wrote the reply, which is stored unchanged.
    return reply as MsgappSendResult;
  }

  /** Does the same as `sendText`, and also returns whether the reply is a replay. */
  async acceptText(
    accountId: string,
    text: MsgappText,
    options: Omit<MsgappSendOptions, 'signal'> & Pick<AcceptOptions, 'signal'> = {},
  ): Promise<Acceptance> {
    const { once, host, signal, key } = checkCallOptions('a send', options, 'once', 'host', 'signal', 'key');
    checkAccountId(accountId);
    const send = async (once?: IdempotencyKey) => {
      checkInput(text);
      this.addressees.check(text);
      const priority = sendPriority(text.priority, 1);
      const metadata = metadataOf(text.metadata);
      readSchedule(text, this.clock.now());
      const body = text.body ?? '';
      checkText('body', body);
      if (isInvisible(body)) throw new MessagingError('error.empty_message');
      const addressee = await this.addressees.find(accountId, text, host);
      const sender = await this.senders.choose(accountId, addressee.from, host);
      const payload = { kind: 'text', text: body };
      const draft = this.draft(
        this.ids.next(),
        accountId,
        sender,
        addressee,
        text,
        { priority, metadata, payload },
        once,
      );
      const scheduled = await withWindow({ ...draft, key }, chosenWindow(text.window));
      return this.outbox.accept(scheduled, { host, signal });
    };
    return this.gate.run(accountId, this.route('text'), once, send, host);
  }

  /**
   * Fetches, charges and queues a file. When the promise resolves, the file is stored and will be delivered. If it throws,
   * nothing is charged.
   *
   * @throws MessagingError the errors of `sendText`, `error.field_invalid` for an unknown `mediaType`, and
   * `error.media_unavailable` for every fault of the file, also if its bytes are of another kind
   */
  async sendMedia(accountId: string, file: MsgappFile, options: MsgappSendOptions = {}): Promise<MsgappSendResult> {
    const { reply } = await this.acceptMedia(accountId, file, options);
    // `draft` below wrote the reply, which is stored unchanged.
    return reply as MsgappSendResult;
  }

  /** Does the same as `sendMedia`, and also returns whether the reply is a replay. */
  async acceptMedia(accountId: string, file: MsgappFile, options: MsgappSendOptions = {}): Promise<Acceptance> {
    const { once, host, signal, key } = checkCallOptions('a send', options, 'once', 'host', 'signal', 'key');
    checkAccountId(accountId);
    const send = async (once?: IdempotencyKey) => {
      checkInput(file);
      this.addressees.check(file);
      const priority = sendPriority(file.priority, 1);
      const window = chosenWindow(file.window);
      const metadata = metadataOf(file.metadata);
      readSchedule(file, this.clock.now());
      checkString('mediaUrl', file.mediaUrl);
      const kind = file.mediaType ?? undefined;
      if (kind !== undefined && !MEDIA_KINDS.includes(kind)) {
        throw new MessagingError('error.field_invalid', { field: 'mediaType' });
      }
      const caption = file.caption ?? undefined;
      checkText('caption', caption ?? '');
      const addressee = await this.addressees.find(accountId, file, host);
      const sender = await this.senders.choose(accountId, addressee.from, host);
      if (!host) await this.checkFunds(accountId);
      const id = this.ids.next();
      const media = await this.intake.take(accountId, id, file.mediaUrl, kind, { signal, host });
      const payload: MediaPayload = { kind: 'media', media, ...(caption === undefined ? {} : { caption }) };
      try {
        const draft = this.draft(id, accountId, sender, addressee, file, { priority, metadata, payload }, once);
        const scheduled = await withWindow({ ...draft, key }, window);
        const accepted = await this.outbox.accept(scheduled, { host, signal });
        if (accepted.replayed) await this.intake.remove(id, host);
        return accepted;
      } catch (error) {
        // A commit without an answer may have succeeded, and then the message needs the file. If it failed, the purge deletes the
        // file.
        if (isRefusal(error)) await this.intake.remove(id, host);
        throw error;
      }
    };
    return this.gate.run(accountId, this.route('media'), once, send, host);
  }

  /**
   * Returns a message with its status.
   * @throws MessagingError `error.message_not_found` if the account has no such message on this channel
   */
  async message(accountId: string, messageId: string): Promise<MsgappMessage> {
    checkAccountId(accountId);
    const found = isId(messageId) ? await this.store.find(accountId, this.settings.channel, messageId) : undefined;
    const recipients = await this.store.firstRecipients(found ? [found.id] : [], accountId);
    const shown = found && shownMessage(found, recipients);
    if (!shown) throw new MessagingError('error.message_not_found');
    return shown;
  }

  /**
   * Cancels a message that no worker has claimed, and refunds its units. A repeat changes nothing.
   *
   * @throws MessagingError `error.message_not_found` if the account has no such message on this channel, or the message
   * no such recipient, `error.invalid_number`, `error.storage_unavailable`
   */
  async cancel(accountId: string, messageId: string, options: CancelOptions = {}): Promise<CanceledMessage> {
    checkAccountId(accountId);
    const found = isId(messageId) ? await this.store.find(accountId, this.settings.channel, messageId) : undefined;
    if (!found || !isShownPayload(found.payload)) throw new MessagingError('error.message_not_found');
    return this.cancellation.cancel(found, options);
  }

  /**
   * Lists the messages of an account on this channel, newest first, 1 to 1000 per page. A page has at most about 1 MB, so a page
   * of long texts may have fewer items. With `to`, `from`, `status` or `metadata` it may have fewer items or none;
   * `searched_until` then says how far the search has come. Continue until
   * `next_cursor` is null.
   *
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for an invalid limit, status or moment,
   * `error.invalid_number`, and for metadata as `sendText`
   */
  async list(accountId: string, query: MsgappListQuery = {}): Promise<MsgappPage> {
    checkAccountId(accountId);
    const page = await this.store.list({
      accountId,
      channel: this.settings.channel,
      ...messageQuery(query, this.clock.now()),
    });
    const ids = page.items.map(({ id }) => id);
    const recipients = await this.store.firstRecipients(ids, accountId);
    const items = page.items.flatMap((message) => shownMessage(message, recipients) ?? []);
    return { items, next_cursor: cursorOf(page.next), searched_until: searchedUntilOf(page) };
  }

  private draft(
    id: string,
    accountId: string,
    { sessionId, number }: Sender,
    { recipient, replyTo }: Addressee,
    input: ScheduleInput,
    message: Pick<Send, 'priority' | 'metadata' | 'payload'>,
    once: IdempotencyKey | undefined,
  ): Send {
    const { channel, tariff } = this.settings;
    const at = this.clock.now();
    // This was checked before. The validity counts from the acceptance.
    const schedule = readSchedule(input, at);
    const reply: MsgappSendResult = { success: true, messageID: id };
    const units = message.payload.kind === 'media' ? tariff.media : tariff.text;
    return {
      id,
      accountId,
      channel,
      lane: sessionId,
      sender: number,
      ...message,
      payload: replyTo === undefined ? message.payload : { ...message.payload, replyTo },
      reply,
      at,
      recipients: [{ number: recipient, units }],
      ...(schedule && { schedule }),
      ...(once && { once }),
    };
  }

  private route(kind: 'text' | 'media'): string {
    return `${this.settings.channel}/send/${kind}`;
  }

  /**
   * Refuses a send before the fetch if the balance is too low, so that we do not fetch files for nothing. The charge after the
   * fetch decides.
   */
  private async checkFunds(accountId: string): Promise<void> {
    if ((await this.ledger.balance(accountId)) >= this.settings.tariff.media) return;
    throw new MessagingError('error.insufficient_balance');
  }
}

/** Returns a message in the form that its account sees. Undefined for a one-time code, or if the recipient was removed. */
function shownMessage(
  { payload, ...message }: StoredMessage,
  recipients: ReadonlyMap<string, TrackedRecipient>,
): MsgappMessage | undefined {
  const recipient = recipients.get(message.id);
  return recipient && isShownPayload(payload) ? messageOf({ ...message, payload }, recipient) : undefined;
}

/** Whether an error proves that nothing was stored. */
function isRefusal(error: unknown): boolean {
  return error instanceof MessagingError && !(error instanceof StorageUnavailableError);
}

function checkText(field: 'body' | 'caption', text: string): void {
  checkString(field, text);
  if (text.length > MAX_TEXT) throw new MessagingError('error.field_invalid', { field });
  const character = unsendableCharacter(text);
  if (character !== undefined) throw new MessagingError('error.unsendable_character', { character });
}
