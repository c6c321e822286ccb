import { randomBytes } from 'node:crypto';
import { encodeBigEndian, type proto } from 'baileys';
import type { LinkedDevice } from './linked-device.js';
import { openMedia, type ReceivedMedia } from './phone-media.js';
import { PhoneSignal, type Sealed } from './phone-signal.js';
import { seconds, stanza } from './stanza.js';

/** What a phone needs of the network. */
export interface PhoneNetwork {
  scan(phone: Phone, qr: string): Promise<LinkedDevice | undefined>;
  devicesOf(number: string): LinkedDevice[];
  unlink(device: LinkedDevice): void;
  blobAt(path: string): Buffer | undefined;
}

/** A message as it was decrypted on a phone. */
export interface ReceivedMessage {
  readonly id: string;
  /** The device that sent it. */
  readonly sender: LinkedDevice;
  readonly sealedAs: Sealed['type'];
  readonly content: proto.Message;
  /** What it says, when it is a text. */
  readonly text: string | undefined;
}

/** A handset: scans codes, receives and sends. The network makes one for each number. */
export class Phone {
  /** What others sent to this number, in the order of arrival. */
  readonly inbox: ReceivedMessage[] = [];
  /** What this number's own linked devices sent; a phone gets a copy of everything. */
  readonly copies: ReceivedMessage[] = [];
  readonly signal = new PhoneSignal();
  /** The number's other name, which the network tells to who asks. */
  readonly lidUser: string;
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

  /** What the app does when its camera has read the code; undefined when the network did not let it link. */
  scan(qr: string): Promise<LinkedDevice | undefined> {
    return this.network.scan(this, qr);
  }

  /** The number of the next device that it links. The phone itself is 0, the first computer 2. */
  nextDeviceId(): number {
    return ++this.devices + 1;
  }

  /** The file of a message. */
  media({ content }: ReceivedMessage): Promise<ReceivedMedia> {
    return openMedia(content, (path) => this.network.blobAt(path));
  }

  /** Writes to a number's linked devices; answers the message's id. */
  async sendText(number: string, text: string): Promise<string> {
    const id = `3A${randomBytes(8).toString('hex').toUpperCase()}`;
    for (const device of this.network.devicesOf(number)) {
      const { type, ciphertext } = await this.signal.seal(device, { conversation: text });
      const attrs = { from: this.jid, id, type: 'text', t: seconds(), notify: 'phone', sender_lid: this.lid };
      device.connection?.send(stanza('message', attrs, [stanza('enc', { v: '2', type }, ciphertext)]));
    }
    return id;
  }

  /** Shows a message to its owner, who lets the sender know. */
  read({ id, sender }: ReceivedMessage): void {
    sender.connection?.send(stanza('receipt', { from: this.jid, id, t: seconds(), type: 'read' }));
  }

  /** As when it could not decrypt a message: asks the sender's device for it again. */
  askAgain({ id, sender }: ReceivedMessage): void {
    const t = seconds();
    const registration = encodeBigEndian(this.signal.identity.registrationId, 4);
    sender.connection?.send(
      stanza('receipt', { from: this.jid, id, t, type: 'retry' }, [
        stanza('retry', { count: '1', id, t, v: '1' }),
        stanza('registration', {}, registration),
      ]),
    );
  }

  /** Logs out all linked devices, or one. */
  unlink(device?: LinkedDevice): void {
    for (const each of device ? [device] : this.network.devicesOf(this.number)) this.network.unlink(each);
  }

  /** Takes a message from the network. @throws Error when it cannot be decrypted */
  async receive(sender: LinkedDevice, id: string, sealed: Sealed): Promise<void> {
    const content = await this.signal.open(sender.lid, sealed);
    const message = { id, sender, sealedAs: sealed.type, content, text: textOf(content) };
    (sender.phone === this ? this.copies : this.inbox).push(message);
  }
}

function textOf({ conversation, extendedTextMessage, deviceSentMessage }: proto.IMessage): string | undefined {
  if (deviceSentMessage?.message) return textOf(deviceSentMessage.message);
  return conversation || extendedTextMessage?.text || undefined;
}
