import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { StorageUnavailableError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { MINUTE_MS } from '../common/time.js';
import { ImportsModules } from '../core/port-provider.js';
import { MediaStore } from '../media/media-store.js';
import {
  type Link,
  type LinkAct,
  type LinkEvent,
  type LinkListener,
  type LinkOrder,
  MsgappTransport,
  type OutgoingMedia,
  type OutgoingMsgapp,
  type SessionTiming,
} from '../msgapp/msgapp-transport.js';
import type { DeliveryResult } from '../outbox/delivery/delivery-result.js';
import { SANDBOX_TIMING, sandboxBehaviour } from './magic-numbers.js';
import { phoneOfIdentity } from './phones/phone-identity.js';
import { type PhoneDelivery, type PhoneMedia, PhoneStore } from './phones/phone-store.js';
import { SandboxPhones } from './phones/sandbox-phones.js';
import { ignoreUnavailable, SandboxFeed } from './sandbox-feed.js';
import { SandboxScanner } from './sandbox-scanner.js';

/**
 * The embedded default transport of messaging-app channels. It uses no network. Sandbox phones scan its codes and keep the
 * messages that it delivers; magic numbers act as they do for SMS.
 */
@Injectable()
@ImportsModules(SandboxPhones)
export class SandboxMsgappTransport extends MsgappTransport {
  override readonly name = 'sandbox';

  /** Repeats are idempotent, because a phone stores a message with the same id only once. */
  override readonly repeat = 'idempotent';

  override readonly acts = ['seen', 'react'] as const;

  override readonly timing = SANDBOX_TIMING;

  override readonly sessions: Partial<SessionTiming> = { leaseMs: 10_000, staggerMs: 20 };

  constructor(
    private readonly phones: PhoneStore,
    private readonly feed: SandboxFeed,
    private readonly scanner: SandboxScanner,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly media: MediaStore,
  ) {
    super();
  }

  override async open(order: LinkOrder, listener: LinkListener): Promise<Link> {
    const { phones, feed, scanner, clock, ids, media } = this;
    const link = new SandboxMsgappLink(order, listener, { phones, feed, scanner, clock, ids, media });
    void link.begin();
    return link;
  }

  override async openFile(file: string): Promise<AsyncIterable<Uint8Array>> {
    return this.media.read(file);
  }
}

/** The parts that all connections of the sandbox share. */
interface SandboxParts {
  readonly phones: PhoneStore;
  readonly feed: SandboxFeed;
  readonly scanner: SandboxScanner;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly media: MediaStore;
}

/** The lifetime of a code. The first code lives longer, as on real channels. */
const FIRST_CODE_MS = MINUTE_MS;
const CODE_MS = 20_000;

/** The session credential that contains the number. */
const NUMBER = { kind: 'sandbox', id: 'number' };

type NumberedMsgapp = OutgoingMsgapp & { readonly to: string };

const PHONES_AWAY: DeliveryResult = { kind: 'retry', error: 'sandbox: the phones do not answer' };

/** One connection of the sandbox. */
class SandboxMsgappLink implements Link {
  private closed = false;
  private number: string | undefined;
  private hideCode: () => void = () => undefined;
  private disconnect: () => void = () => undefined;

  constructor(
    private readonly order: LinkOrder,
    private readonly listener: LinkListener,
    private readonly parts: SandboxParts,
  ) {}

  /** Shows codes, or opens the connection if the session is linked. */
  async begin(): Promise<void> {
    if (!this.order.linked) {
      this.showCode(FIRST_CODE_MS);
      return;
    }
    try {
      const kept = await this.order.credentials.read(NUMBER.kind, [NUMBER.id]);
      const number = kept.get(NUMBER.id);
      if (number !== undefined) await this.open(number);
      else await this.emit({ kind: 'ended', end: { next: 'give-up', status: 'logged_out', reason: 'no_credentials' } });
    } catch {
      await this.emit({ kind: 'ended', end: { next: 'retry', reason: 'credentials_unread' } });
    }
  }

  async send(outgoing: OutgoingMsgapp): Promise<DeliveryResult> {
    const to = outgoing.to ?? phoneOfIdentity(outgoing.identity ?? '');
    if (to === undefined) return { kind: 'refused', error: 'sandbox: no such phone', unasked: true };
    const message = { ...outgoing, to };
    const behaviour = sandboxBehaviour(to, message.attempt);
    if (behaviour === 'delivered') return this.arrive(message);
    await this.parts.phones.lose([this.asShown(message)]).catch(ignoreUnavailable);
    this.parts.feed.change();
    switch (behaviour) {
      case 'refused':
        return { kind: 'refused', error: 'sandbox: refused' };
      case 'busy':
        return { kind: 'retry', error: 'sandbox: temporary error' };
      case 'silent':
        return { kind: 'sent', reference: message.messageId };
      case 'undelivered':
        return { kind: 'sent', final: 'undelivered', error: 'sandbox: undelivered' };
    }
  }

  async exists(): Promise<boolean> {
    return true;
  }

  /**
   * A reaction is on the phone like a message, because the sandbox keeps no messages that phones write. A message that was read
   * looks the same as before.
   */
  async act(act: LinkAct): Promise<boolean> {
    if (this.closed || this.number === undefined) return false;
    if (act.kind === 'seen' || act.emoji === undefined) return true;
    const { message, emoji } = act;
    const { channel } = this.order;
    const messageId = `${message.id}-${createHash('sha256').update(emoji).digest('hex').slice(0, 8)}`;
    const about = { messageId, channel, from: this.number, to: message.chat, media: undefined };
    const shown = { ...about, text: emoji, quote: message.text ?? '…', receivedAt: this.parts.clock.now() };
    await this.parts.phones.receive([shown]);
    this.parts.feed.publish([shown]);
    return true;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.hideCode();
    this.disconnect();
  }

  async logout(): Promise<void> {
    await this.close();
  }

  private async emit(event: LinkEvent): Promise<void> {
    if (!this.closed) await this.listener(event);
  }

  /**
   * Opens the connection. Returns false if the session no longer waits. If this process does not send, it releases the session as
   * soon as it is open.
   */
  private async open(number: string): Promise<boolean> {
    if (this.closed) return false;
    const { channel, sessionId } = this.order;
    this.number = number;
    this.disconnect = this.parts.scanner.connect({ number, channel, sessionId }, (message) =>
      this.listener({ kind: 'message', message }),
    );
    await this.emit({ kind: 'open', number });
    return true;
  }

  private showCode(ms: number): void {
    if (this.closed) return;
    const { clock, ids, scanner } = this.parts;
    const { channel, sessionId } = this.order;
    const qr = `sandbox:${channel}:${ids.bytes(24).toString('base64url')}`;
    const hide = scanner.show({ qr, channel, sessionId }, (number) => this.link(number));
    const cancel = clock.after(ms, () => {
      hide();
      this.showCode(CODE_MS);
    });
    this.hideCode = () => {
      hide();
      cancel();
    };
    void this.emit({ kind: 'qr', qr, expiresAt: clock.now() + ms });
  }

  private async link(number: string): Promise<boolean> {
    this.hideCode();
    try {
      await this.order.credentials.write([{ ...NUMBER, value: number }]);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) return false;
      this.showCode(CODE_MS);
      throw error;
    }
    void this.emit({ kind: 'linked', number });
    return this.open(number);
  }

  private async arrive(message: NumberedMsgapp): Promise<DeliveryResult> {
    const { phones, feed } = this.parts;
    try {
      const arrived = { ...this.asShown(message), ...(await this.keep(message.content)) };
      await phones.receive([arrived]);
      feed.publish([arrived]);
      return { kind: 'sent', final: 'delivered', reference: message.messageId };
    } catch (error) {
      if (error instanceof StorageUnavailableError) return PHONES_AWAY;
      throw error;
    }
  }

  /**
   * Keeps a copy of a file for the phone, because the message's file is removed after it is sent. The description of the copy
   * comes from its bytes. Each attempt makes a copy under a new id, and the media purge removes the copies later.
   */
  private async keep(content: OutgoingMsgapp['content']): Promise<Partial<PhoneDelivery>> {
    if (!('media' in content)) return {};
    const fileId = this.parts.ids.next();
    const hash = createHash('sha256');
    let size = 0;
    const measured = async function* () {
      for await (const chunk of content.media.open()) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    await this.parts.media.write(fileId, measured(), this.parts.clock.now());
    return { fileId, media: { ...described(content.media), size, sha256: hash.digest('hex') } };
  }

  /** A message of a messaging app has one recipient. */
  private asShown({ messageId, from, to, content, quote }: NumberedMsgapp): PhoneDelivery {
    const media = 'media' in content ? described(content.media) : undefined;
    const text = 'text' in content ? content.text : '';
    const receivedAt = this.parts.clock.now();
    const quoted = quote && { quote: quote.text ?? '…' };
    return { messageId, channel: this.order.channel, from, to, text, media, ...quoted, receivedAt, position: 0 };
  }
}

function described({ kind, mimetype, size, sha256, caption, fileName }: OutgoingMedia): PhoneMedia {
  return { type: kind, mimetype, size, sha256, caption, fileName };
}
