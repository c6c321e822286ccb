import { randomBytes } from 'node:crypto';
import { encodeBigEndian, type proto } from 'baileys';
import type { LinkedDevice } from './linked-device.js';
import { openMedia, type ReceivedMedia, sealMedia } from './phone-media.js';
import { PhoneSignal, type Sealed } from './phone-signal.js';
import { seconds, stanza } from './stanza.js';

/** The functions of the network that a phone needs. */
export interface PhoneNetwork {
  scan(phone: Phone, qr: string): Promise<LinkedDevice | undefined>;
  devicesOf(number: string): LinkedDevice[];
  unlink(device: LinkedDevice): void;
  blobAt(path: string): Buffer | undefined;
  keepBlob(path: string, blob: Buffer): void;
}

/** The details of the file in a message. */
export type UploadedMedia = Required<
  Pick<proto.Message.IImageMessage, 'directPath' | 'url' | 'mediaKey' | 'fileLength'>
>;

/** A message as it was decrypted on a phone. */
export interface ReceivedMessage {
  readonly id: string;
  /** The device that sent it. */
  readonly sender: LinkedDevice;
  readonly sealedAs: Sealed['type'];
  readonly content: proto.Message;
  /** Its text, if it is a text message. */
  readonly text: string | undefined;
}

/** A handset: it scans codes, receives and sends. The network makes one for each number. */
export class Phone {
  /** Messages from others to this number, in the order of arrival. */
  readonly inbox: ReceivedMessage[] = [];
  /** Messages from this number's own linked devices, of which a phone gets a copy each. */
  readonly copies: ReceivedMessage[] = [];
  readonly signal = new PhoneSignal();
  /** The number's other name, which the network gives to anybody who asks. */
  readonly lidUser: string;
  /** Whether the network names the phone by its other name, even to those who ask for the number. */
  hidesNumber = false;
  private devices = 0;

  constructor(
    /** E.164 digits without the plus sign. */
    readonly number: string,
    private readonly network: PhoneNetwork,
  ) {
    this.lidUser = `9${number.padStart(14, '0')}`;
  }

  get jid(): string {
    return `${this.number}@s.whatsapp.net`;
  }

  get lid(): string {
    return `${this.lidUser}@lid`;
  }

  /** What the app does after its camera has read the code. Undefined if the network did not let it link. */
  scan(qr: string): Promise<LinkedDevice | undefined> {
    return this.network.scan(this, qr);
  }

  /** The number of the next device that it links. The phone itself is 0, the first computer is 2. */
  nextDeviceId(): number {
    return ++this.devices + 1;
  }

  /** The file of a message. */
  media({ content }: ReceivedMessage): Promise<ReceivedMedia> {
    return openMedia(content, (path) => this.network.blobAt(path));
  }

  /** Writes a text to a number's linked devices. Returns the message's id. */
  sendText(number: string, text: string): Promise<string> {
    return this.send(number, { conversation: text });
  }

  /** Writes to a number's linked devices. Returns the message's id. With the id of another message it is a repeat. */
  async send(
    number: string,
    message: proto.IMessage,
    { id = newId(), hidden = false, offline = false } = {},
  ): Promise<string> {
    for (const device of this.network.devicesOf(number)) {
      const { type, ciphertext } = await this.signal.seal(device, message);
      const from = hidden ? { from: this.lid } : { from: this.jid, sender_lid: this.lid };
      const attrs = { ...from, id, type: 'text', t: seconds(), notify: 'phone', ...(offline && { offline: '1' }) };
      device.connection?.send(stanza('message', attrs, [stanza('enc', { v: '2', type }, ciphertext)]));
    }
    return id;
  }

  /** The app tells a number's linked devices which number this phone's LID has. */
  reveal(number: string): void {
    const updates = [{ jid: this.lid, added_profiles: [this.jid] }];
    const news = Buffer.from(JSON.stringify({ operation: 'NotificationLinkedProfilesUpdates', updates }));
    const attrs = { from: 's.whatsapp.net', id: newId(), type: 'mex', t: seconds() };
    for (const { connection } of this.network.devicesOf(number)) {
      connection?.send(stanza('notification', attrs, [stanza('mex', {}, news)]));
    }
  }

  /** Puts a file on the network, for a message. */
  upload(kind: 'image' | 'video' | 'document' | 'audio', bytes: Uint8Array): UploadedMedia {
    const { path, blob, mediaKey } = sealMedia(kind, bytes);
    this.network.keepBlob(path, blob);
    return { directPath: path, url: `https://mmg.whatsapp.net${path}`, mediaKey, fileLength: bytes.length };
  }

  /** Shows a message to its owner, and the sender is notified. */
  read({ id, sender }: ReceivedMessage): void {
    sender.connection?.send(stanza('receipt', { from: this.jid, id, t: seconds(), type: 'read' }));
  }

  /** As if it could not decrypt a message: asks the sender's device for it again. */
  askAgain({ id, sender }: ReceivedMessage): void {
    const t = seconds();
    const registration = encodeBigEndian(this.signal.identity.registrationId, 4);
    sender.connection?.send(
      stanza('receipt', { from: this.hidesNumber ? this.lid : this.jid, id, t, type: 'retry' }, [
        stanza('retry', { count: '1', id, t, v: '1' }),
        stanza('registration', {}, registration),
      ]),
    );
  }

  /** Logs out all linked devices, or one. */
  unlink(device?: LinkedDevice): void {
    for (const each of device ? [device] : this.network.devicesOf(this.number)) this.network.unlink(each);
  }

  /** Takes a message from the network. @throws Error if it cannot be decrypted */
  async receive(sender: LinkedDevice, id: string, sealed: Sealed): Promise<void> {
    const content = await this.signal.open(sender.lid, sealed);
    const message = { id, sender, sealedAs: sealed.type, content, text: textOf(content) };
    (sender.phone === this ? this.copies : this.inbox).push(message);
  }
}

function newId(): string {
  return `3A${randomBytes(8).toString('hex').toUpperCase()}`;
}

function textOf({ conversation, extendedTextMessage, deviceSentMessage }: proto.IMessage): string | undefined {
  if (deviceSentMessage?.message) return textOf(deviceSentMessage.message);
  return conversation || extendedTextMessage?.text || undefined;
}
