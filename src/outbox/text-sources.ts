import { Injectable } from '@nestjs/common';
import type { Payload } from './accept/send.js';
import { isRemoved } from './retention/removed-payload.js';

/** Renders the texts of payloads of one kind at delivery, so that secret texts are never stored. */
export interface TextSource {
  readonly kind: string;
  text(payload: Payload): string;
  /** When the text becomes useless, milliseconds since the epoch; undefined: never. */
  expiresAt?(payload: Payload): number | undefined;
}

/** The sources of texts by the kind of payload. The kind `text` is registered from the start. */
@Injectable()
export class TextSources {
  private readonly byKind = new Map<string, TextSource>();

  constructor() {
    this.register({ kind: 'text', text: ({ text }) => String(text) });
  }

  register(source: TextSource): void {
    this.byKind.set(source.kind, source);
  }

  /** Whether payloads of a kind have a source. */
  has(kind: string): boolean {
    return this.byKind.has(kind);
  }

  /** @throws Error for a kind without a source, or if the content was removed */
  textOf(payload: Payload): string {
    if (isRemoved(payload)) throw new Error('The content of the message was removed.');
    const source = this.byKind.get(payload.kind);
    if (!source) throw new Error(`No source of texts for payloads of kind "${payload.kind}".`);
    return source.text(payload);
  }

  /** When a payload's text becomes useless, milliseconds since the epoch; undefined: never, or not known. */
  expiryOf(payload: Payload): number | undefined {
    return this.byKind.get(payload.kind)?.expiresAt?.(payload);
  }
}
