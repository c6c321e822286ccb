import type { CompletedSend, DeliveryTransition } from '../../events/delivery-transition.js';
import type { Send } from './send.js';

/** Transitions of the recipients of an accepted send that are stored as `failed` and never sent. */
export function refusedTransitions(send: Send): readonly DeliveryTransition[] {
  if (!hasRefused(send)) return [];
  const { id: messageId, accountId, channel, sender, metadata, recipients, at } = send;
  const refused = recipients.flatMap(({ number, refused: error }, position) =>
    error === undefined ? [] : [{ position, number, error }],
  );
  const completed: CompletedSend | undefined =
    refused.length === recipients.length
      ? { recipients: recipients.length, statuses: { failed: recipients.length }, units: 0, refundedUnits: 0 }
      : undefined;
  return refused.map(
    (recipient, index): DeliveryTransition => ({
      ...recipient,
      messageId,
      accountId,
      channel,
      sender,
      status: 'failed',
      units: 0,
      refund: 0,
      refundedUnits: 0,
      acceptedAt: at,
      metadata,
      at,
      ...(index === refused.length - 1 ? { completed } : {}),
    }),
  );
}

/** Whether a send has such recipients. */
export function hasRefused({ recipients }: Send): boolean {
  return recipients.some(({ refused }) => refused !== undefined);
}
