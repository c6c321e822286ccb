import { Injectable } from '@nestjs/common';
import type { IncomingMsgapp } from '../msgapp/msgapp-transport.js';

/** A code that a sandbox session is showing. */
export interface ShownCode {
  readonly qr: string;
  /** The name of the session's channel. */
  readonly channel: string;
  readonly sessionId: string;
}

/** Links a number. Resolves to false if the session no longer waits for one. */
type OnScan = (number: string) => Promise<boolean>;

/** Stores a message to a linked number. Resolves when it is stored. */
type OnMessage = (message: IncomingMsgapp) => Promise<void>;

/** A number that a sandbox session of this process is linked to. */
export interface LinkedNumber {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** The name of the session's channel. */
  readonly channel: string;
  readonly sessionId: string;
}

/** Keeps the codes and the linked numbers of this process's sandbox sessions, and scans codes for sandbox phones. */
@Injectable()
export class SandboxScanner {
  private readonly shown = new Map<string, { readonly code: ShownCode; readonly onScan: OnScan }>();
  private readonly connected = new Map<LinkedNumber, OnMessage>();
  private readonly listeners = new Set<() => void>();

  /** The codes that can be scanned now. */
  get codes(): readonly ShownCode[] {
    return [...this.shown.values()].map(({ code }) => code);
  }

  /** The numbers whose sessions are connected now. */
  get linked(): readonly LinkedNumber[] {
    return [...this.connected.keys()];
  }

  /** Marks a number as linked. `receive` gets the messages to it. Returns the function that ends the link. */
  connect(linked: LinkedNumber, receive: OnMessage = async () => undefined): () => void {
    this.connected.set(linked, receive);
    this.notify();
    return () => {
      if (this.connected.delete(linked)) this.notify();
    };
  }

  /** Returns the function that receives messages to a number. Undefined if the number is not linked in this process now. */
  receiverOf(channel: string, number: string): OnMessage | undefined {
    for (const [linked, receive] of this.connected) {
      if (linked.channel === channel && linked.number === number) return receive;
    }
    return undefined;
  }

  /** Shows a code and returns the function that hides it. */
  show(code: ShownCode, onScan: OnScan): () => void {
    this.shown.set(code.qr, { code, onScan });
    this.notify();
    return () => {
      if (this.shown.delete(code.qr)) this.notify();
    };
  }

  /**
   * Calls `listener`, which must not throw, at each change of the codes or the linked numbers. Returns the function that removes
   * the listener.
   */
  listen(listener: () => void): () => void {
    const own = () => listener();
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  }

  /**
   * Scans a code with the phone of a number. A code can be scanned once.
   *
   * @param number E.164 digits without the plus sign
   * @returns true after the session is linked and has processed that. False for a code that is not shown, or no longer shown
   */
  async scan(qr: string, number: string): Promise<boolean> {
    const shown = this.shown.get(qr);
    if (!shown) return false;
    this.shown.delete(qr);
    this.notify();
    return shown.onScan(number);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
