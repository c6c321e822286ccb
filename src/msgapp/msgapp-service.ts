import { Injectable } from '@nestjs/common';
import { LedgerService } from '../billing/ledger-service.js';
import { Clock } from '../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator, isId } from '../common/ids.js';
import { checkInput, checkNumber, checkString, unsendableCharacter } from '../common/inputs.js';
import { knownCallOptions } from '../common/options.js';
import { Idempotency, type IdempotentRequest } from '../outbox/idempotency.js';
import { type Acceptance, Outbox } from '../outbox/outbox.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import type { IdempotencyKey, Payload, Send } from '../outbox/send.js';
import { MediaIntake } from './media-intake.js';
import { isShownPayload, type MediaPayload } from './message-contents.js';
import { type MsgappMessage, type MsgappReceipt, messageOf } from './msgapp-results.js';
import { MsgappSettings } from './msgapp-settings.js';
import { LONGEST_TEXT, type MediaKind } from './msgapp-transport.js';
import { type Sender, Senders } from './senders.js';

/** A text to one number. */
export interface MsgappText {
  /** E.164 digits without the plus sign. */
  readonly to: string;
  readonly body?: string | undefined;
  /** The sending number; default: the one that was connected first and is connected now. */
  readonly from?: string | undefined;
}

/** A file to one number. */
export interface MsgappFile {
  /** E.164 digits without the plus sign. */
  readonly to: string;
  /** Where the file is; the service fetches it itself. */
  readonly mediaUrl: string;
  /** How it is to be shown; default: as what it is. */
  readonly mediaType?: MediaKind | undefined;
  readonly caption?: string | undefined;
  /** The sending number; default: the one that was connected first and is connected now. */
  readonly from?: string | undefined;
}

/** How a send is to be done. */
export interface MsgappSendOptions {
  /** Do it once, however often this key and body come. */
  readonly once?: IdempotentRequest | undefined;
  /** Be part of a transaction that the host has open: with TypeORM `host: { manager }`. */
  readonly host?: HostTransaction | undefined;
  /**
   * Aborted when the result is no longer wanted: the fetching of a file ends, and a send that is in no transaction yet is
   * dropped, charges nothing, and the call throws the signal's reason. One that was accepted stays accepted.
   */
  readonly signal?: AbortSignal | undefined;
}

const MEDIA_KINDS: readonly string[] = ['image', 'video', 'document', 'audio'] satisfies MediaKind[];

/** Texts and files over one messaging-app channel. What the HTTP routes do, a host's own code can do here. */
@Injectable()
export class MsgappService {
  constructor(
    private readonly outbox: Outbox,
    private readonly store: OutboxStore,
    private readonly ledger: LedgerService,
    private readonly gate: Idempotency,
    private readonly senders: Senders,
    private readonly intake: MediaIntake,
    private readonly settings: MsgappSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Charges and queues a text; when this resolves it is stored and will be delivered.
   *
   * @throws MessagingError `error.invalid_number`, `error.empty_message`, `error.field_invalid` for more than 65 536
   *   characters, `error.field_not_string`, `error.body_not_object`, `error.unsendable_character`,
   *   `error.msgapp_no_session`, `error.msgapp_not_connected`, `error.insufficient_balance`, `error.account_not_found`,
   *   `error.idempotency_mismatch`, `error.idempotency_running`, `error.storage_unavailable`; then nothing is charged
   */
  async sendText(accountId: string, text: MsgappText, options: MsgappSendOptions = {}): Promise<MsgappReceipt> {
    const { reply } = await this.acceptText(accountId, text, options);
    // Written by `draft` below and kept as it was.
    return reply as MsgappReceipt;
  }

  /** As `sendText`, and tells whether it was a replay. */
  async acceptText(accountId: string, text: MsgappText, options: MsgappSendOptions = {}): Promise<Acceptance> {
    const { once, host, signal } = knownCallOptions('a send', options, 'once', 'host', 'signal');
    const send = async (key?: IdempotencyKey) => {
      checkInput(text);
      const from = this.checkNumbers(text);
      const body = text.body ?? '';
      checkText('body', body);
      if (body.trim() === '') throw new MessagingError('error.empty_message');
      const sender = await this.senders.choose(accountId, from, host);
      const payload = { kind: 'text', text: body };
      const draft = this.draft(this.ids.next(), accountId, sender, text.to, payload, key);
      return this.outbox.accept(draft, { host, signal });
    };
    return this.gate.run(accountId, this.route('text'), once, send, host);
  }

  /**
   * Fetches a file, charges and queues it; when this resolves it is stored and will be delivered.
   *
   * @throws MessagingError as `sendText`, `error.field_invalid` for a `mediaType` that is none, and
   *   `error.media_unavailable` whatever is wrong with the file; then nothing is charged
   */
  async sendMedia(accountId: string, file: MsgappFile, options: MsgappSendOptions = {}): Promise<MsgappReceipt> {
    const { reply } = await this.acceptMedia(accountId, file, options);
    // Written by `draft` below and kept as it was.
    return reply as MsgappReceipt;
  }

  /** As `sendMedia`, and tells whether it was a replay. */
  async acceptMedia(accountId: string, file: MsgappFile, options: MsgappSendOptions = {}): Promise<Acceptance> {
    const { once, host, signal } = knownCallOptions('a send', options, 'once', 'host', 'signal');
    const send = async (key?: IdempotencyKey) => {
      checkInput(file);
      const from = this.checkNumbers(file);
      checkString('mediaUrl', file.mediaUrl);
      const kind = file.mediaType ?? undefined;
      if (kind !== undefined && !MEDIA_KINDS.includes(kind)) {
        throw new MessagingError('error.field_invalid', { field: 'mediaType' });
      }
      const caption = file.caption ?? undefined;
      checkText('caption', caption ?? '');
      const sender = await this.senders.choose(accountId, from, host);
      if (!host) await this.checkFunds(accountId);
      const id = this.ids.next();
      const media = await this.intake.take(accountId, id, file.mediaUrl, kind, { signal, host });
      const payload: MediaPayload = { kind: 'media', media, ...(caption === undefined ? {} : { caption }) };
      try {
        const draft = this.draft(id, accountId, sender, file.to, payload, key);
        const accepted = await this.outbox.accept(draft, { host, signal });
        if (accepted.replayed) await this.intake.remove(id, host);
        return accepted;
      } catch (error) {
        // A commit that was not answered may have been done, and its message needs the file; the purge finds out later.
        if (isRefusal(error)) await this.intake.remove(id, host);
        throw error;
      }
    };
    return this.gate.run(accountId, this.route('media'), once, send, host);
  }

  /** What became of a message. @throws MessagingError `error.message_not_found` when the account has no such one here */
  async message(accountId: string, messageId: string): Promise<MsgappMessage> {
    const found = isId(messageId) ? await this.store.find(accountId, this.settings.channel, messageId) : undefined;
    const [recipient] = found ? await this.store.recipients(messageId) : [];
    // A code's message is nobody's to read.
    if (!found || !recipient || !isShownPayload(found.payload)) throw new MessagingError('error.message_not_found');
    return messageOf({ ...found, payload: found.payload }, recipient, await this.store.trail(messageId));
  }

  private draft(
    id: string,
    accountId: string,
    { sessionId, number }: Sender,
    to: string,
    payload: Payload,
    once: IdempotencyKey | undefined,
  ): Send {
    const { channel, tariff } = this.settings;
    const reply: MsgappReceipt = { success: true, messageID: id };
    const units = payload.kind === 'media' ? tariff.media : tariff.text;
    return {
      ...{ id, accountId, channel, lane: sessionId, sender: number, payload, reply, at: this.clock.now() },
      recipients: [{ number: to, units }],
      ...(once && { once }),
    };
  }

  private route(kind: 'text' | 'media'): string {
    return `${this.settings.channel}/send/${kind}`;
  }

  /** Nobody fetches files at our cost that cannot be paid for. What decides is the charge, when the file is there. */
  private async checkFunds(accountId: string): Promise<void> {
    if ((await this.ledger.balance(accountId)) >= this.settings.tariff.media) return;
    throw new MessagingError('error.insufficient_balance');
  }

  /** Answers who is asked for as the sender. */
  private checkNumbers({ to, from }: Pick<MsgappText, 'to' | 'from'>): string | undefined {
    checkNumber(to, this.settings.strictNumbers);
    const sender = from ?? undefined;
    if (sender !== undefined) checkNumber(sender);
    return sender;
  }
}

/** Whether it is certain that nothing was stored. */
function isRefusal(error: unknown): boolean {
  return error instanceof MessagingError && !(error instanceof StorageUnavailableError);
}

function checkText(field: 'body' | 'caption', text: string): void {
  checkString(field, text);
  if (text.length > LONGEST_TEXT) throw new MessagingError('error.field_invalid', { field });
  const character = unsendableCharacter(text);
  if (character !== undefined) throw new MessagingError('error.unsendable_character', { character });
}
