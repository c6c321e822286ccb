import { Injectable } from '@nestjs/common';
import type { Payload } from './send.js';

/** Makes the text of a payload of one kind, at the moment of delivery: what must not be stored is made here. */
export interface TextSource {
  readonly kind: string;
  text(payload: Payload): string;
  /** When the text stops to be of use to anybody, milliseconds since the epoch; undefined: never. */
  expiresAt?(payload: Payload): number | undefined;
}

/** Who can turn which payload into a text. `text`, the plain one, is there from the start. */
@Injectable()
export class TextSources {
  private readonly byKind = new Map<string, TextSource>();

  constructor() {
    this.register({ kind: 'text', text: ({ text }) => String(text) });
  }

  register(source: TextSource): void {
    this.byKind.set(source.kind, source);
  }

  /** @throws Error for a kind that nobody registered */
  textOf(payload: Payload): string {
    const source = this.byKind.get(payload.kind);
    if (!source) throw new Error(`No source of texts for payloads of kind "${payload.kind}".`);
    return source.text(payload);
  }

  /** When a payload's text stops to be of use, milliseconds since the epoch; undefined: never, as far as is known. */
  expiryOf(payload: Payload): number | undefined {
    return this.byKind.get(payload.kind)?.expiresAt?.(payload);
  }
}
