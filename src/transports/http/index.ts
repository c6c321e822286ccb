export { partOfHeader } from '../../sms/inbound/part-place.js';
export type { MessageIdFormat } from '../../sms/receipts/message-ids.js';
export { type PartPlace, partPlace } from '../../sms/sms-transport.js';
export { CallbackContent, sameText } from './callback-content.js';
export type { CallbackCharset } from './callback-fields.js';
export type { HttpSmsOptions } from './http-sms-options.js';
export { HttpSmsTransport, type HttpSmsTransportSource } from './http-sms-transport.js';
export { countOf, idOf, listOf, readJson, textOf, valueAt } from './json-values.js';
export { compactReference, expandedReference, parseReference } from './message-reference.js';
export type {
  HttpVendor,
  RequestContext,
  UnprovenCall,
  VendorAnswer,
  VendorCallback,
  VendorErrors,
  VendorFacts,
  VendorInbound,
  VendorNews,
  VendorReceipt,
  VendorRequest,
  VendorToken,
} from './vendor.js';
export { type AfricasTalkingOptions, africasTalking } from './vendors/africas-talking.js';
export { generic } from './vendors/generic.js';
export { type HttpsmsOptions, httpsms } from './vendors/httpsms.js';
export { type InfobipOptions, infobip } from './vendors/infobip.js';
export { type JasminOptions, jasmin } from './vendors/jasmin.js';
export { type KannelOptions, kannel } from './vendors/kannel.js';
export { type MtnOptions, mtn } from './vendors/mtn.js';
export { type OrangeOptions, orange } from './vendors/orange.js';
export { type SmsgateOptions, smsgate } from './vendors/smsgate.js';
export { type TextbeeOptions, textbee } from './vendors/textbee.js';
export { type TwilioOptions, twilio } from './vendors/twilio.js';
export type { VonageSignatureMethod } from './vendors/vonage.js';
export { type VonageOptions, vonage } from './vendors/vonage.js';
