import type { MessageIdFormat } from '../../sms/receipts/message-ids.js';
import type { SmppBindSettings } from './bind/bind-settings.js';
import type { SmppStatusClass } from './command-status.js';
import type { ReceiptStates } from './incoming/receipt-states.js';
import type { PartFormat } from './parts/part-format.js';
import type { DefaultAlphabet } from './smpp-options.js';

/** The reconnect delays of a link, in milliseconds. */
export interface ReconnectSettings {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The limits of a link's submit rate. */
export interface RateSettings {
  readonly window: number;
  readonly partsPerSecond: number | undefined;
  readonly throttlePauseMs: number;
}

/** The settings for reading incoming messages of a link. */
export interface IncomingSettings {
  readonly route: string;
  readonly messageIds: MessageIdFormat;
  readonly defaultAlphabet: DefaultAlphabet;
  readonly receiptOffsetMinutes: number | undefined;
  readonly unmarkedReceipts: boolean;
  readonly states: ReceiptStates;
  /** Whether a receipt applies to all parts of its SMS. */
  readonly wholeReceipts: boolean;
  readonly home: string | undefined;
}

/** The checked options of a link with their defaults filled in. */
export interface SmppLinkSettings {
  readonly name: string;
  readonly route: string;
  readonly bind: SmppBindSettings;
  readonly reconnect: ReconnectSettings;
  readonly rate: RateSettings;
  readonly format: PartFormat;
  /** The classes of statuses that the host sets. */
  readonly statuses: ReadonlyMap<number, SmppStatusClass>;
  readonly incoming: IncomingSettings;
}

/** The checked options of the transport with their defaults filled in. */
export interface SmppSettings {
  readonly name: string;
  readonly resendUnknown: boolean;
  readonly links: readonly SmppLinkSettings[];
}
