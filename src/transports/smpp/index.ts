export type { MessageIdFormat } from '../../sms/receipts/message-ids.js';
export type { SmppTlsSettings } from './bind/bind-settings.js';
export type { SmppStatusClass } from './command-status.js';
export type { ReceiptStatus } from './incoming/receipt-states.js';
export type {
  AddressOptions,
  DefaultAlphabet,
  LongMessages,
  NumberingOptions,
  SmppLinkOptions,
  SmppOptions,
} from './smpp-options.js';
export { SmppSmsTransport, type SmppSmsTransportSource } from './smpp-sms-transport.js';
