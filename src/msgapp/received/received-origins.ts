import { Injectable } from '@nestjs/common';
import type { HostTransaction } from '../../common/host-transaction.js';
import { isId } from '../../common/ids.js';
import type { QuotedMsgapp } from '../msgapp-transport.js';
import { CredentialsUnreadableError } from '../sessions/credential-cipher.js';
import { SessionVault } from '../sessions/credential-vault.js';
import { ReceivedMessageStore, type StoredReceived } from './received-message-store.js';

/** The kinds under which what the app calls a message, and its text, are encrypted with the keys of its session. */
const ORIGIN = 'received-origin';
const QUOTE = 'received-quote';

/** What an app needs to find a received message again. */
export type ReceivedOrigin = Pick<QuotedMsgapp, 'id' | 'chat'>;

/** What is stored of a message, so that it can be answered later. Both are encrypted. */
export type SealedOrigin = Pick<StoredReceived, 'origin' | 'quote'>;

/** Seals what the app calls received messages, and opens it again. */
@Injectable()
export class ReceivedOrigins {
  constructor(
    private readonly received: ReceivedMessageStore,
    private readonly vault: SessionVault,
  ) {}

  /**
   * @param id our id of the message
   * @param text the beginning of its text, if it has one
   */
  seal(sessionId: string, id: string, { id: theirs, chat }: ReceivedOrigin, text: string | undefined): SealedOrigin {
    return {
      origin: this.vault.seal(sessionId, ORIGIN, id, JSON.stringify({ id: theirs, chat })),
      quote: text === undefined ? undefined : this.vault.seal(sessionId, QUOTE, id, text),
    };
  }

  /**
   * Returns the message with an id, if it can still be referred to. Undefined if it was removed, or is a reaction. With `host`, the
   * host's open transaction reads it.
   */
  async find(id: unknown, host?: HostTransaction): Promise<StoredReceived | undefined> {
    const found = isId(id) ? await this.received.find(id, host) : undefined;
    return found?.origin === undefined ? undefined : found;
  }

  /** Returns what the app calls a message. Undefined if that cannot be read any more. */
  originOf({ id, sessionId, origin }: StoredReceived): ReceivedOrigin | undefined {
    const opened = origin === undefined ? undefined : this.open(sessionId, ORIGIN, id, origin);
    // The cast is safe, because only `seal` encrypts values of this kind.
    return opened === undefined ? undefined : (JSON.parse(opened) as ReceivedOrigin);
  }

  /** Returns a message as an answer quotes it. Undefined if what the app calls it cannot be read any more. */
  quoteOf(received: StoredReceived): QuotedMsgapp | undefined {
    const origin = this.originOf(received);
    if (!origin) return undefined;
    const { id, sessionId, quote } = received;
    return { ...origin, text: quote === undefined ? undefined : this.open(sessionId, QUOTE, id, quote) };
  }

  private open(sessionId: string, kind: string, id: string, sealed: string): string | undefined {
    try {
      return this.vault.unseal(sessionId, kind, id, sealed);
    } catch (error) {
      if (error instanceof CredentialsUnreadableError) return undefined;
      throw error;
    }
  }
}
