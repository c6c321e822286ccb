/** What is to be said, as JSON; `kind` says who can turn it into a text (`text` is the text itself). */
export interface Payload {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** Payload of a plain text. */
export interface TextPayload extends Payload {
  readonly kind: 'text';
  readonly text: string;
}
