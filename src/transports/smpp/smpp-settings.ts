import type { PartFormat } from './parts/part-format.js';
import type { SmppSessionSettings } from './session/session-settings.js';
import type { DefaultAlphabet, MessageIdFormat } from './smpp-options.js';

/** How a link is kept up. Milliseconds. */
export interface ReconnectSettings {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** How fast a link submits. */
export interface PaceSettings {
  readonly window: number;
  readonly partsPerSecond: number | undefined;
  readonly throttlePauseMs: number;
}

/** How what comes in on a link is read. */
export interface IncomingSettings {
  readonly route: string;
  readonly messageIds: MessageIdFormat;
  readonly defaultAlphabet: DefaultAlphabet;
  readonly receiptOffsetMinutes: number | undefined;
  readonly unmarkedReceipts: boolean;
}

/** One link's options, complete and checked. */
export interface SmppLinkSettings {
  readonly name: string;
  readonly route: string;
  readonly session: SmppSessionSettings;
  readonly reconnect: ReconnectSettings;
  readonly pace: PaceSettings;
  readonly format: PartFormat;
  readonly incoming: IncomingSettings;
}

/** The options of the transport, complete and checked. */
export interface SmppSettings {
  readonly name: string;
  readonly resendUnknown: boolean;
  readonly links: readonly SmppLinkSettings[];
}
