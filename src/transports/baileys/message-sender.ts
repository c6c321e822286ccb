import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AnyMessageContent, proto, WAMessage, WASocket } from 'baileys';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import {
  type LinkResult,
  MAX_TEXT,
  type OutgoingMedia,
  type OutgoingMsgapp,
  type QuotedMsgapp,
} from '../../msgapp/msgapp-transport.js';
import type { Baileys } from './baileys-library.js';
import type { ResolvedBaileysOptions } from './baileys-options.js';
import { failureOf } from './link-end.js';
import type { BaileysLogger } from './quiet-logger.js';
import { type Ack, ackError, RESTRICTED, type ReceiptTracker } from './receipt-tracker.js';
import type { Recipients } from './recipients.js';
import type { SessionMemory } from './session-memory.js';

/** The parts that a connection's sender uses. */
interface SenderParts {
  readonly library: Baileys;
  readonly socket: WASocket;
  readonly logger: BaileysLogger;
  readonly recipients: Recipients;
  readonly memory: SessionMemory;
  readonly receipts: ReceiptTracker;
  readonly clock: Clock;
  readonly options: Pick<ResolvedBaileysOptions, 'ackTimeoutMs' | 'uploadTimeoutMs'>;
  /** Called when the connection can no longer send files. */
  readonly onUnusable: (reason: string) => void;
}

type Prepared = { readonly message: proto.IMessage } | Extract<LinkResult, { kind: 'retry' }>;

/**
 * Sends messages, one at a time, and waits for the server's acknowledgement. Baileys itself reports only that a message was
 * written.
 */
export class MessageSender {
  constructor(private readonly parts: SenderParts) {}

  /**
   * Sends a message. An error before the message is written means that it was not sent. After that only the server's
   * acknowledgement counts.
   */
  async send(outgoing: OutgoingMsgapp, signal: AbortSignal): Promise<LinkResult> {
    const { clock, options } = this.parts;
    // Texts have a limit, because a frame has at most 16 MiB, and each text is encrypted for every device and cached.
    if (textOf(outgoing).length > MAX_TEXT) return { kind: 'refused', error: 'text_too_long' };
    const reference = messageReference(outgoing.messageId);
    const address = addressOf(outgoing);
    if (address === undefined) return { kind: 'refused', error: 'no_address', unasked: true };
    const preparing = this.prepare(outgoing, address, reference);
    const prepared = await within(clock, options.uploadTimeoutMs, preparing);
    if (!prepared) return { kind: 'retry', error: 'preparation_timeout' };
    if ('kind' in prepared) return prepared;
    if (signal.aborted) return { kind: 'retry', error: 'stopping' };
    return this.relay(address, prepared.message, reference);
  }

  /** Looks up the recipient's devices and uploads the file. Never rejects. */
  private async prepare({ content, quote }: OutgoingMsgapp, address: string, messageId: string): Promise<Prepared> {
    const { library, socket, logger, options } = this.parts;
    try {
      if (!(await this.parts.recipients.hasDevices(address)))
        return { kind: 'retry', error: 'no_devices', wrongAddress: true };
      if ('media' in content && !(await this.hasMediaServer())) return { kind: 'retry', error: 'no_media_server' };
      const { message } = await library.generateWAMessage(address, messageContent(content), {
        userJid: socket.user?.id ?? '',
        upload: socket.waUploadToServer,
        mediaUploadTimeoutMs: options.uploadTimeoutMs,
        messageId,
        logger,
        ...(quote && { quoted: quotedMessage(quote) }),
      });
      return message ? { message } : { kind: 'retry', error: 'no_message' };
    } catch (error) {
      const step = 'media' in content ? 'upload' : 'preparation';
      return { kind: 'retry', error: `${step}_failed: ${failureOf(error).reason}` };
    }
  }

  /**
   * Queries the upload server, unless a cached answer is valid. Baileys caches a failure too, for the lifetime of its socket, so
   * that after one timeout every upload would fail. So a failure ends the connection.
   */
  private async hasMediaServer(): Promise<boolean> {
    try {
      await this.parts.socket.refreshMediaConn(false);
      return true;
    } catch {
      this.parts.onUnusable('no_media_server');
      return false;
    }
  }

  private async relay(address: string, message: proto.IMessage, reference: string): Promise<LinkResult> {
    const { library, socket, memory, receipts, options } = this.parts;
    memory.sent.remember(reference, address, message, library.proto.Message.encode(message).finish().length);
    const relaying = socket.relayMessage(address, message, { messageId: reference });
    const acknowledged = receipts.ackOf(reference, relaying, options.ackTimeoutMs);
    const failure = await relaying.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const ack = await acknowledged;
    if (ack) return resultOf(ack, reference, this.isOwn(address));
    // A receipt may still report the result later.
    if (!failure) return { kind: 'unknown', error: 'no_ack', reference };
    const error = `relay_failed: ${failureOf(failure.error).reason}`;
    return isBeforeWriting(failure.error) ? { kind: 'retry', error } : { kind: 'unknown', error, reference };
  }

  /** Whether an address is the linked number's own. Its phone sends no receipts, so an accepted message counts as delivered. */
  private isOwn(address: string): boolean {
    const { library, socket } = this.parts;
    return library.areJidsSameUser(address, socket.user?.id) || library.areJidsSameUser(address, socket.user?.lid);
  }
}

function resultOf({ error }: Ack, reference: string, isOwn: boolean): LinkResult {
  if (error === undefined) return { kind: 'sent', reference, ...(isOwn && { final: 'delivered' }) };
  // Any other refusal may be about the address. Asking for the address again costs one query.
  const isAboutUs = error === RESTRICTED;
  return { kind: 'refused', error: ackError(error), ...(isAboutUs ? {} : { wrongAddress: true }) };
}

/** Returns the address of a recipient: that of the number, if it is known, else the LID. */
function addressOf({ address, to, identity }: OutgoingMsgapp): string | undefined {
  return address ?? (to === undefined ? identity : `${to}@s.whatsapp.net`);
}

/** Returns a received message in the form in which Baileys quotes it. A phone that still has the message finds it by the id. */
function quotedMessage({ id, chat, text = '' }: QuotedMsgapp): WAMessage {
  return { key: { id, remoteJid: chat, fromMe: false }, message: { conversation: text } };
}

function textOf({ content }: OutgoingMsgapp): string {
  return 'text' in content ? content.text : (content.media.caption ?? '');
}

/**
 * Whether Baileys failed before it wrote the message: a query was refused (a Boom) or interrupted (the close code of the
 * WebSocket), or the socket was closed (428). Errors during or after the write come from the write (408, or the socket's own
 * error) or from storing keys (our own errors).
 */
function isBeforeWriting(error: unknown): boolean {
  const { status } = failureOf(error);
  return typeof error === 'number' || (status !== undefined && status !== 408);
}

/**
 * Returns a message in Baileys' form. Files are passed as streams only, because Baileys would read any URL or path, including the
 * host's own files. Apps show no caption for an audio file, so none is sent.
 */
export function messageContent(content: OutgoingMsgapp['content']): AnyMessageContent {
  // With null, Baileys does not fetch the first link of a text for a preview.
  if ('text' in content) return { text: content.text, linkPreview: null };
  const { media } = content;
  const { mimetype, fileName } = media;
  const caption = media.caption === undefined ? {} : { caption: media.caption };
  switch (media.kind) {
    case 'image':
      return { image: streamOf(media), mimetype, ...caption };
    case 'video':
      // With an empty thumbnail, Baileys does not start ffmpeg on an untrusted file.
      return { video: streamOf(media), mimetype, ...caption, jpegThumbnail: '' };
    case 'audio':
      return { audio: streamOf(media), mimetype };
    case 'voice':
      // With `ptt` Baileys measures the length of the audio. Phones show no voice note without it.
      return { audio: streamOf(media), mimetype, ptt: true };
    case 'document':
      return { document: streamOf(media), mimetype, fileName, ...caption };
  }
}

function streamOf(media: OutgoingMedia): { stream: Readable } {
  return { stream: Readable.from(media.open(), { objectMode: false }) };
}

/**
 * Returns the id of a message on the wire, to which receipts refer. It depends on our id only. So if a message is sent twice by
 * mistake, it is one message in the recipient's app. It has the form of a web client's ids.
 *
 * @param messageId our own id of the message
 */
export function messageReference(messageId: string): string {
  return `3EB0${createHash('sha256').update(messageId).digest('hex').slice(0, 18).toUpperCase()}`;
}
