import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AnyMessageContent, proto, WASocket } from 'baileys';
import { within } from '../../common/async.js';
import type { Clock } from '../../common/clock.js';
import { LONGEST_TEXT, type OutgoingMedia, type OutgoingMsgapp } from '../../msgapp/msgapp-transport.js';
import type { DeliveryResult } from '../../outbox/delivery-result.js';
import type { Baileys } from './baileys-library.js';
import type { ResolvedBaileysOptions } from './baileys-options.js';
import { failureOf } from './link-end.js';
import type { BaileysLogger } from './quiet-logger.js';
import { type Ack, ackError, type ReceiptTracker } from './receipt-tracker.js';
import type { Recipients } from './recipients.js';
import type { SessionMemory } from './session-memory.js';

/** What one connection's sender works with. */
interface SenderParts {
  readonly library: Baileys;
  readonly socket: WASocket;
  readonly logger: BaileysLogger;
  readonly recipients: Recipients;
  readonly memory: SessionMemory;
  readonly desk: ReceiptTracker;
  readonly clock: Clock;
  readonly options: Pick<ResolvedBaileysOptions, 'ackTimeoutMs' | 'uploadTimeoutMs'>;
  /** The connection can send no more files. */
  readonly broken: (reason: string) => void;
}

type Prepared = { readonly message: proto.IMessage } | Extract<DeliveryResult, { kind: 'retry' }>;

/** Sends messages, one at a time, and finds out whether the server took them: Baileys only tells that they were written. */
export class MessageSender {
  constructor(private readonly parts: SenderParts) {}

  /** What fails before the message itself is written was certainly not sent; after that, only the server's word counts. */
  async send(outgoing: OutgoingMsgapp, signal: AbortSignal): Promise<DeliveryResult> {
    const { recipients, clock, options } = this.parts;
    // A frame of the protocol ends at 16 MiB, and each text is encrypted for every device and remembered for a while.
    if (textOf(outgoing).length > LONGEST_TEXT) return { kind: 'refused', error: 'text_too_long' };
    const reference = messageReference(outgoing.messageId);
    const address = recipients.addressOf(outgoing.to);
    const preparing = this.prepare(outgoing, address, reference);
    const prepared = await within(clock, options.uploadTimeoutMs, preparing);
    if (!prepared) return { kind: 'retry', error: 'preparation_timeout' };
    if ('kind' in prepared) return prepared;
    if (signal.aborted) return { kind: 'retry', error: 'stopping' };
    return this.relay(address, prepared.message, reference);
  }

  /** Looks up the recipient's devices and uploads the file. Never rejects. */
  private async prepare({ content }: OutgoingMsgapp, address: string, messageId: string): Promise<Prepared> {
    const { library, socket, logger, options } = this.parts;
    try {
      if (!(await this.parts.recipients.hasDevices(address))) return { kind: 'retry', error: 'no_devices' };
      if ('media' in content && !(await this.hasMediaServer())) return { kind: 'retry', error: 'no_media_server' };
      const { message } = await library.generateWAMessage(address, messageContent(content), {
        userJid: socket.user?.id ?? '',
        upload: socket.waUploadToServer,
        mediaUploadTimeoutMs: options.uploadTimeoutMs,
        messageId,
        logger,
      });
      return message ? { message } : { kind: 'retry', error: 'no_message' };
    } catch (error) {
      const step = 'media' in content ? 'upload' : 'preparation';
      return { kind: 'retry', error: `${step}_failed: ${failureOf(error).reason}` };
    }
  }

  /**
   * Asks where files are uploaded, or for how long that is still known. Baileys keeps the answer, a failure too, and for as
   * long as its socket lives: one question that was not answered in time would fail every file from then on.
   */
  private async hasMediaServer(): Promise<boolean> {
    try {
      await this.parts.socket.refreshMediaConn(false);
      return true;
    } catch {
      this.parts.broken('no_media_server');
      return false;
    }
  }

  private async relay(address: string, message: proto.IMessage, reference: string): Promise<DeliveryResult> {
    const { library, socket, memory, desk, options } = this.parts;
    memory.sent.remember(reference, address, message, library.proto.Message.encode(message).finish().length);
    const relaying = socket.relayMessage(address, message, { messageId: reference });
    const acknowledged = desk.ackOf(reference, relaying, options.ackTimeoutMs);
    const failure = await relaying.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const ack = await acknowledged;
    if (ack) return verdictOf(ack, reference);
    // The word may come later, as a receipt.
    if (!failure) return { kind: 'unknown', error: 'no_ack', reference };
    const error = `relay_failed: ${failureOf(failure.error).reason}`;
    return isBeforeWriting(failure.error) ? { kind: 'retry', error } : { kind: 'unknown', error, reference };
  }
}

function verdictOf({ error }: Ack, reference: string): DeliveryResult {
  return error === undefined ? { kind: 'sent', reference } : { kind: 'refused', error: ackError(error) };
}

function textOf({ content }: OutgoingMsgapp): string {
  return 'text' in content ? content.text : (content.media.caption ?? '');
}

/**
 * Whether Baileys failed before it wrote the message: a question of its was refused (a Boom), was cut off (the number of
 * the WebSocket's end), or the socket was closed already (428). What can fail with or after the writing are the writing
 * itself (408, or the socket's own error) and the storing of keys (ours).
 */
function isBeforeWriting(error: unknown): boolean {
  const { status } = failureOf(error);
  return typeof error === 'number' || (status !== undefined && status !== 408);
}

/**
 * A message as Baileys takes it. Files only as streams: from a URL or a path Baileys would read whatever it names, the
 * host's own files included. A recipient's app shows no caption under an audio file, so none is sent.
 */
export function messageContent(content: OutgoingMsgapp['content']): AnyMessageContent {
  // Without this null Baileys fetches the first link of a text for a preview.
  if ('text' in content) return { text: content.text, linkPreview: null };
  const { media } = content;
  const { mimetype, fileName } = media;
  const caption = media.caption === undefined ? {} : { caption: media.caption };
  switch (media.kind) {
    case 'image':
      return { image: streamOf(media), mimetype, ...caption };
    case 'video':
      // With a thumbnail of our own, an empty one, it does not start ffmpeg on a stranger's file.
      return { video: streamOf(media), mimetype, ...caption, jpegThumbnail: '' };
    case 'audio':
      return { audio: streamOf(media), mimetype };
    case 'document':
      return { document: streamOf(media), mimetype, fileName, ...caption };
  }
}

function streamOf(media: OutgoingMedia): { stream: Readable } {
  return { stream: Readable.from(media.open(), { objectMode: false }) };
}

/**
 * The id under which a message goes out, and by which receipts name it. Always the same for a message, so that one that
 * was sent twice by mistake is one message to the recipient's app. It has the form of a web client's ids.
 *
 * @param messageId our own id of the message
 */
export function messageReference(messageId: string): string {
  return `3EB0${createHash('sha256').update(messageId).digest('hex').slice(0, 18).toUpperCase()}`;
}
