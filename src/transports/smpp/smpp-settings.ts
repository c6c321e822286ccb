import type { MessageIdFormat } from '../../sms/receipts/message-ids.js';
import type { SmppStatusClass } from './command-status.js';
import type { ReceiptStates } from './incoming/receipt-states.js';
import type { PartFormat } from './parts/part-format.js';
import type { SmppSessionSettings } from './session/session-settings.js';
import type { DefaultAlphabet } from './smpp-options.js';

/** The reconnect delays of a link. Milliseconds. */
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

/** How incoming messages of a link are read. */
export interface IncomingSettings {
  readonly route: string;
  readonly messageIds: MessageIdFormat;
  readonly defaultAlphabet: DefaultAlphabet;
  readonly receiptOffsetMinutes: number | undefined;
  readonly unmarkedReceipts: boolean;
  readonly states: ReceiptStates;
  /** Whether a receipt is for all parts of its SMS. */
  readonly wholeReceipts: boolean;
  readonly home: string | undefined;
}

/** The options of a link, complete and checked. */
export interface SmppLinkSettings {
  readonly name: string;
  readonly route: string;
  readonly session: SmppSessionSettings;
  readonly reconnect: ReconnectSettings;
  readonly rate: RateSettings;
  readonly format: PartFormat;
  /** The classes of statuses that the host sets. */
  readonly statuses: ReadonlyMap<number, SmppStatusClass>;
  readonly incoming: IncomingSettings;
}

/** The options of the transport, complete and checked. */
export interface SmppSettings {
  readonly name: string;
  readonly resendUnknown: boolean;
  readonly links: readonly SmppLinkSettings[];
}
