/** The content of a message, JSON. `kind` names the `TextSource` that renders it. */
export interface Payload {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The payload of a plain text. */
export interface TextPayload extends Payload {
  readonly kind: 'text';
  readonly text: string;
}
