import type { InjectionToken } from '@nestjs/common';
import { Clock, SystemClock } from '../../common/clock.js';
import {
  type AcceptedCredentials,
  type GivenCredentials,
  type Link,
  type LinkListener,
  type LinkOrder,
  type MsgappCallback,
  MsgappTransport,
} from '../../msgapp/msgapp-transport.js';
import type { SessionCredentials } from '../../msgapp/sessions/session-credentials.js';
import type { DeliveryTiming } from '../../outbox/delivery/delivery-result.js';
import { cloudCallback } from './cloud-callback.js';
import { acceptCredentials, readCredentials } from './cloud-credentials.js';
import { openCloudFile } from './cloud-files.js';
import { CloudLink } from './cloud-link.js';
import { type CloudSettings, resolveCloudOptions, type WhatsappCloudOptions } from './cloud-options.js';
import { GraphClient } from './graph-client.js';
import { messageTag } from './message-tag.js';

/** The value of the option `transport` that `WhatsappCloudMsgappTransport.forRoot` returns. */
export interface WhatsappCloudSource {
  readonly inject: { token: InjectionToken; optional: boolean }[];
  readonly useFactory: (clock?: Clock) => WhatsappCloudMsgappTransport;
}

/**
 * Sends from business numbers over Meta's Cloud API, the official API of WhatsApp. Accounts link a number with its id and a token.
 *
 * @example
 * ```ts
 * const transport = WhatsappCloudMsgappTransport.forRoot({ appSecret, verifyToken });
 * MessagingModule.forRoot({ sms, msgapp: { transport, tariff, credentialsKey } });
 * ```
 */
export class WhatsappCloudMsgappTransport extends MsgappTransport {
  override readonly name = 'whatsapp-cloud';

  /** Meta does not recognise repeats. */
  override readonly repeat = 'at-most-once';

  /** The lease covers an upload and the message after it. */
  override readonly timing: Partial<DeliveryTiming>;

  override readonly callbacks: ReadonlyMap<string, MsgappCallback>;

  private readonly settings: CloudSettings;
  private readonly client: GraphClient;

  /**
   * Returns the value for a channel's option `transport`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: WhatsappCloudOptions): WhatsappCloudSource {
    // The options are checked here too, so that the error's stack shows the host's call.
    resolveCloudOptions(options);
    return {
      inject: [{ token: Clock, optional: true }],
      useFactory: (clock) => new WhatsappCloudMsgappTransport(options, clock),
    };
  }

  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  constructor(
    options: WhatsappCloudOptions,
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
    this.settings = resolveCloudOptions(options);
    const { baseUrl, requestTimeoutMs: requestMs, uploadTimeoutMs: uploadMs } = this.settings;
    this.client = new GraphClient({ baseUrl: baseUrl.href.replace(/\/$/, ''), requestMs, uploadMs });
    this.callbacks = new Map([['cloud', cloudCallback(this.settings, clock)]]);
    this.timing = { leaseMs: uploadMs + 2 * requestMs };
  }

  override acceptCredentials(given: GivenCredentials): Promise<AcceptedCredentials> {
    return acceptCredentials(this.client, given);
  }

  override async open(order: LinkOrder, listener: LinkListener): Promise<Link> {
    const [secret = ''] = this.settings.appSecret;
    const link = new CloudLink(this.client, order, listener, this.clock, (messageId, phoneNumberId) =>
      messageTag(messageId, phoneNumberId, secret),
    );
    void link.begin();
    return link;
  }

  override async openFile(
    file: string,
    signal: AbortSignal,
    credentials: Pick<SessionCredentials, 'read'>,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const linked = await readCredentials(credentials);
    return linked && openCloudFile(this.client, linked, file, this.settings.uploadTimeoutMs, signal);
  }
}
