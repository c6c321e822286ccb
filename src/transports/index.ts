/** For authors of transports: the two ports, and the shapes that go through them. */

export type { Cancellation } from '../common/concurrency/async.js';
export type { ReportedStatus } from '../events/delivery-status.js';
export type { FinalSessionStatus } from '../events/session-status.js';
export {
  type AcceptedCredentials,
  type CalledMsgapp,
  type GivenCredentials,
  type IncomingMedia,
  type IncomingMsgapp,
  type Link,
  type LinkAct,
  type LinkEnd,
  type LinkEvent,
  type LinkListener,
  type LinkOrder,
  type LinkResult,
  type MediaKind,
  type MsgappCall,
  type MsgappCallAnswer,
  type MsgappCallback,
  type MsgappNews,
  MsgappTransport,
  type OutgoingMedia,
  type OutgoingMsgapp,
  type Pacing,
  type QuotedMsgapp,
  type ReportedMsgapp,
  type SessionTiming,
} from '../msgapp/msgapp-transport.js';
export type { LinkCode } from '../msgapp/sessions/qr-stream.js';
export type { CredentialChange, SessionCredentials } from '../msgapp/sessions/session-credentials.js';
export type { DeliveryResult, RepeatPolicy, ResultPolicy } from '../outbox/delivery/delivery-result.js';
export type { BreakerState } from '../sms/carrier-state.api.js';
export type { LinkState, RouteState } from '../sms/carrier-state.js';
export {
  type CallbackAnswer,
  type CallbackHandler,
  type CarrierCallback,
  type CarrierReceipt,
  type InboundSms,
  type OutgoingSms,
  type PartPlace,
  type ReportResult,
  type RouteAttempt,
  type SmsReport,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../sms/sms-transport.js';
