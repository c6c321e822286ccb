import { createHmac } from 'node:crypto';
import { sameText } from '../http/callback-content.js';

/** The characters of the proof: 132 bits. */
const PROOF_LENGTH = 22;

/**
 * Returns the text that travels with a message, and that Meta repeats in each status of it (`biz_opaque_callback_data`). With it a
 * status finds its message before the answer to the send is known, and also after a send that got no answer. The proof shows that
 * we sent the message from this number, because whoever has a token can send messages with any text.
 */
export function messageTag(messageId: string, phoneNumberId: string, secret: string): string {
  return `${messageId}.${proofOf(messageId, phoneNumberId, secret)}`;
}

/** Returns the id of the message that a tag names. Undefined if the tag is not ours, or of another number. */
export function readTag(
  tag: string | undefined,
  phoneNumberId: string,
  secrets: readonly string[],
): string | undefined {
  const [messageId = '', proof = '', ...rest] = (tag ?? '').split('.');
  const isOurs = secrets.some((secret) => sameText(proof, proofOf(messageId, phoneNumberId, secret)));
  return isOurs && rest.length === 0 ? messageId : undefined;
}

function proofOf(messageId: string, phoneNumberId: string, secret: string): string {
  const content = JSON.stringify(['message', phoneNumberId, messageId]);
  return createHmac('sha256', secret).update(content).digest('base64url').slice(0, PROOF_LENGTH);
}
