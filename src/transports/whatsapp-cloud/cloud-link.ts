import type { Clock } from '../../common/clock.js';
import type {
  Link,
  LinkEvent,
  LinkListener,
  LinkOrder,
  LinkResult,
  OutgoingMsgapp,
} from '../../msgapp/msgapp-transport.js';
import { readCredentials } from './cloud-credentials.js';
import type { CloudRecipient } from './cloud-messages.js';
import { CloudSender } from './cloud-sender.js';
import type { GraphClient } from './graph-client.js';

/**
 * A number of the Cloud API that sends. The API has no connections: a link is open as long as Meta accepts the token. The
 * transport reports neither receipts nor messages here, because Meta's calls reach any process.
 */
export class CloudLink implements Link {
  private sender: CloudSender | undefined;
  private phoneNumberId = '';
  private closed = false;

  constructor(
    private readonly client: GraphClient,
    private readonly order: LinkOrder,
    private readonly listener: LinkListener,
    private readonly clock: Clock,
    private readonly tagOf: (messageId: string, phoneNumberId: string) => string,
  ) {}

  /** Links the number, or opens the link of a linked number. Never rejects. */
  async begin(): Promise<void> {
    try {
      const linked = await readCredentials(this.order.credentials);
      if (!linked) return await this.end('credentials_missing');
      const { number } = linked;
      this.phoneNumberId = linked.phoneNumberId;
      this.sender = new CloudSender(this.client, linked, this.clock, () => void this.end('token_expired'));
      if (!this.order.linked) await this.emit({ kind: 'linked', number });
      await this.emit({ kind: 'open', number });
    } catch {
      await this.emit({ kind: 'ended', end: { next: 'retry', reason: 'credentials_unread' } });
    }
  }

  async send(message: OutgoingMsgapp): Promise<LinkResult> {
    if (this.closed || !this.sender) return { kind: 'retry', error: 'not_open' };
    const to = recipientOf(message);
    if (!to) return { kind: 'refused', error: 'no_recipient', unasked: true };
    const tag = this.tagOf(message.messageId, this.phoneNumberId);
    return this.sender.send(to, message.content, { tag, quoted: message.quote?.id });
  }

  /** The API has no look-up. A message to a number that is not on the app is refused. */
  async exists(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  async logout(): Promise<void> {
    await this.close();
  }

  /** Ends the session. The account links the number again with a new token. */
  private async end(reason: string): Promise<void> {
    await this.emit({ kind: 'ended', end: { next: 'give-up', status: 'logged_out', reason } });
    this.closed = true;
  }

  private async emit(event: LinkEvent): Promise<void> {
    if (!this.closed) await this.listener(event);
  }
}

function recipientOf({ to, identity }: OutgoingMsgapp): CloudRecipient | undefined {
  if (to !== undefined) return { number: to };
  return identity === undefined ? undefined : { userId: identity };
}
