import { createHash } from 'node:crypto';

/**
 * The id under which a message goes out, and by which receipts name it. Always the same for a message, so that one that
 * was sent twice by mistake is one message to the recipient's app. It has the form of a web client's ids.
 *
 * @param messageId our own id of the message
 */
export function messageReference(messageId: string): string {
  return `3EB0${createHash('sha256').update(messageId).digest('hex').slice(0, 18).toUpperCase()}`;
}
