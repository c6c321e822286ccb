/**
 * The content of a message, JSON. `kind` names the `TextSource` that renders it. A channel that reads the payload by
 * itself needs no source and chooses its own kind. Two things know the fields of a payload:
 *
 * - Only the kinds `text` and `media` are found by a recipient's number (`isFoundByNumber` in `accept/send-inserts.ts`).
 * - When retention removes a content, it keeps `kind` and `service`, and a hash of `text` or `caption`
 *   (`retention/removed-payload.ts`). So put the words of a message into `text` or `caption`.
 */
export interface Payload {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The payload of a plain text. */
export interface TextPayload extends Payload {
  readonly kind: 'text';
  readonly text: string;
}

/** The payload of a text that is completed for each recipient with its `vars`. Only the channel knows how. */
export interface PersonalPayload extends TextPayload {
  /** How the channel completes the text, as it was when the send was accepted and charged. */
  readonly personal: string;
}

export function isPersonal(payload: Payload): payload is PersonalPayload {
  return 'personal' in payload;
}
