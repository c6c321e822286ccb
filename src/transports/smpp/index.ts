export type { SmppTlsSettings } from './session/session-settings.js';
export type {
  AddressOptions,
  DefaultAlphabet,
  LongMessages,
  MessageIdFormat,
  NumberingOptions,
  SmppLinkOptions,
  SmppOptions,
} from './smpp-options.js';
export { SmppSmsTransport, type SmppSmsTransportSource } from './smpp-sms-transport.js';
