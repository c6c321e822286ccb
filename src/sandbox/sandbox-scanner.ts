import { Injectable } from '@nestjs/common';

/** A code that a session of the sandbox shows at this moment. */
export interface ShownCode {
  readonly qr: string;
  /** Name of the session's channel. */
  readonly channel: string;
  readonly sessionId: string;
}

/** Links a number; false when the session wants no number any more. */
export type OnScan = (number: string) => Promise<boolean>;

/** The eyes of the sandbox's phones: knows every code that a session of this process shows, and scans it. */
@Injectable()
export class SandboxScanner {
  private readonly shown = new Map<string, { readonly code: ShownCode; readonly onScan: OnScan }>();
  private readonly listeners = new Set<() => void>();

  /** The codes that can be scanned now. */
  get codes(): readonly ShownCode[] {
    return [...this.shown.values()].map(({ code }) => code);
  }

  /** Shows a code; the answer takes it away. */
  show(code: ShownCode, onScan: OnScan): () => void {
    this.shown.set(code.qr, { code, onScan });
    this.tell();
    return () => {
      if (this.shown.delete(code.qr)) this.tell();
    };
  }

  /** Calls `listener`, which must not throw, whenever there are other codes than before; the answer ends that. */
  listen(listener: () => void): () => void {
    const own = () => listener();
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  }

  /**
   * Scans a code with the phone of a number, E.164 digits without the plus sign; resolves when the session is linked and has
   * dealt with that. A code can be scanned once. False for a code that nobody shows (any more).
   */
  async scan(qr: string, number: string): Promise<boolean> {
    const shown = this.shown.get(qr);
    if (!shown) return false;
    this.shown.delete(qr);
    this.tell();
    return shown.onScan(number);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
