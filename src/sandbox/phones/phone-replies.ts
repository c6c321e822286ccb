import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { isInvisible } from '../../common/text/visible-text.js';
import type { MediaKind } from '../../media/media.api.js';
import { MediaStore } from '../../media/media-store.js';
import { mediaKindOf, VOICE_NOTE } from '../../media/media-type.js';
import type { IncomingMedia } from '../../msgapp/msgapp-transport.js';
import type { SmsSink } from '../../sms/sms-transport.js';
import { sandboxMedia } from '../sandbox-media.js';
import { SandboxScanner } from '../sandbox-scanner.js';
import { identityOfPhone } from './phone-identity.js';
import { PhoneStore } from './phone-store.js';

/** A message that a phone writes. */
interface PhoneReply {
  /** `sms`, or the name of a messaging-app channel. */
  readonly channel: string;
  /** A signature or number for SMS, a linked number otherwise. */
  readonly to: string;
  /** The text, or the caption of a file. */
  readonly text: string;
  /** The name of a file of the sandbox. Only on a messaging app. */
  readonly media?: string | undefined;
  /** The id of the message that it answers. Only on a messaging app. */
  readonly replyTo?: string | undefined;
  /** The character of a reaction to `replyTo`. Empty to take it back. */
  readonly reaction?: string | undefined;
  /** Whether the app hides the number of the phone. Only on a messaging app. */
  readonly hidden?: boolean | null | undefined;
}

/** Lets sandbox phones write. Their messages are processed exactly like messages of real phones. */
@Injectable()
export class PhoneReplies {
  /** The sink to which the SMS transport of this process passes texts. */
  private carrier: SmsSink | undefined;

  constructor(
    private readonly phones: PhoneStore,
    private readonly scanner: SandboxScanner,
    private readonly media: MediaStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** From now on, passes texts to `carrier`. */
  carryTextsTo(carrier: SmsSink): void {
    this.carrier = carrier;
  }

  /**
   * Writes a message. Resolves when the message is stored as events of the accounts that it belongs to.
   *
   * @param from E.164 digits without the plus sign
   * @throws MessagingError `error.field_invalid` for `hidden`, `error.empty_message`, `error.callback_not_found` if no SMS transport of the sandbox runs here,
   * `error.msgapp_not_connected`, `error.file_not_found`, `error.storage_unavailable`
   */
  async write(from: string, reply: PhoneReply): Promise<void> {
    const { channel, text, media, reaction, hidden } = reply;
    if (hidden != null && typeof hidden !== 'boolean')
      throw new MessagingError('error.field_invalid', { field: 'hidden' });
    if (isInvisible(text) && media === undefined && reaction === undefined)
      throw new MessagingError('error.empty_message');
    if (channel !== 'sms') return this.writeToApp(from, reply);
    if (!this.carrier) throw new MessagingError('error.callback_not_found');
    await this.carrier.inbound([{ route: 'sandbox', from, to: reply.to, text, id: this.ids.next() }]);
  }

  private async writeToApp(from: string, reply: PhoneReply): Promise<void> {
    const { channel, to, text, media, replyTo, reaction, hidden } = reply;
    const receive = this.scanner.receiverOf(channel, to);
    if (!receive) throw new MessagingError('error.msgapp_not_connected', { from: to });
    const file = media === undefined ? undefined : await this.keep(media);
    const answered = replyTo === undefined ? undefined : await this.textOf(from, replyTo);
    await receive({
      id: this.ids.next(),
      chat: from,
      from: hidden ? undefined : from,
      identity: identityOfPhone(from),
      at: this.clock.now(),
      kind: reaction === undefined ? (file?.kind ?? 'text') : 'reaction',
      text: (reaction ?? text) || undefined,
      media: reaction === undefined ? file?.media : undefined,
      refersTo: replyTo === undefined ? undefined : { reference: replyTo, text: answered },
    });
  }

  private async keep(name: string): Promise<{ kind: MediaKind; media: IncomingMedia }> {
    const found = sandboxMedia(name);
    if (!found) throw new MessagingError('error.file_not_found');
    const { mimetype, bytes } = found;
    const file = this.ids.next();
    await this.media.write(
      file,
      (async function* () {
        yield bytes;
      })(),
      this.clock.now(),
    );
    // Phones record voice notes in this type.
    const kind = mimetype === VOICE_NOTE ? 'voice' : mediaKindOf(mimetype);
    return { kind, media: { mimetype, size: bytes.length, fileName: name, file } };
  }

  private async textOf(phone: string, messageId: string): Promise<string | undefined> {
    const message = (await this.phones.messages(phone)).find((each) => each.messageId === messageId);
    return message?.text || message?.media?.caption;
  }
}
